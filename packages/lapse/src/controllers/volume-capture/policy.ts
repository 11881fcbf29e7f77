// What the operator decided about captures, and what the controller is built from.

import type { Random } from '@lapse/base/random';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import type { GuardedDeletes } from '#deletion/guardedDelete';
import type { SkewGuard } from '#deletion/skewGuard';
import type { DirectReader } from '#requests/direct';
import type { Retention } from '#requests/keeper';
import type { RequestRules } from '#requests/rules';
import type { Authors } from './author.ts';

export interface CapturePolicy {
  readonly allowCrossNamespace: boolean;
  /** Of snapshots. */
  readonly retention: Retention;
  /** Of the records of detached volumes. */
  readonly detachRetention: Retention;
  /** Let go of the claim of a detached volume: whoever comes next may bind it. */
  readonly clearClaimRef: boolean;
}

export interface CaptureOptions {
  readonly rules: RequestRules<VolumeCaptureRequest>;
  readonly policy: CapturePolicy;
  readonly direct: DirectReader;
  readonly deletes: GuardedDeletes;
  readonly guard: SkewGuard;
  readonly random: Random;
  /** Set: a detach needs the right of its author to delete the claim. Unset: the controller's own right. */
  readonly authors?: Authors;
  readonly namespace?: string;
}
