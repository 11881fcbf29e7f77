// The operator's settings for captures, and the dependencies of the controller.

import type { Millis } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import type { Expirer } from '#deletion/expirer';
import type { SkewGuard } from '#deletion/skewGuard';
import type { DirectReader } from '#requests/direct';
import type { Retention } from '#requests/keeper';
import type { RequestRules } from '#requests/rules';
import type { Authors } from './author.ts';
import type { SnapshotVia } from './decide.ts';

export interface CapturePolicy {
  readonly allowCrossNamespace: boolean;
  /** What a capture creates. */
  readonly via: SnapshotVia;
  /** How long errors of the storage system are retried. */
  readonly timeout: Millis;
  /** Retention of snapshots. */
  readonly retention: Retention;
  /** Retention of the records of detached volumes. */
  readonly detachRetention: Retention;
  /** Clears the uid in the claimRef of a detached volume, so that a claim of the same name may bind it. */
  readonly clearClaimRef: boolean;
}

/** `snapshot.via` of the configuration. */
export const parseVia = (section: JsonObject | undefined): SnapshotVia =>
  section?.via === 'VolumeSnapshot' ? 'VolumeSnapshot' : 'VolumeSnapshotContent';

export interface CaptureOptions {
  readonly rules: RequestRules<VolumeCaptureRequest>;
  readonly policy: CapturePolicy;
  readonly direct: DirectReader;
  readonly expirer: Expirer<unknown>;
  readonly guard: SkewGuard;
  readonly random: Random;
  /**
   * If set, the author of a detach needs the right to delete the claim. Undefined: the controller's own right is
   * used.
   */
  readonly authors?: Authors;
  readonly namespace?: string;
}
