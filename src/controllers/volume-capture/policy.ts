// What the operator decided about captures, and what the controller is built from.

import type { VolumeCaptureRequest } from '#api/kinds/volumeCaptureRequest';
import type { Random } from '#base/random';
import type { GuardedDeletes } from '#lifecycle/guardedDelete';
import type { DirectReader } from '#lifecycle/requests/direct';
import type { Retention } from '#lifecycle/requests/keeper';
import type { RequestRules } from '#lifecycle/requests/rules';
import type { SkewGuard } from '#lifecycle/skewGuard';
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
