// What the operator decided about restores, and what the controller is built from.

import type { Random } from '@lapse/base/random';
import type { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import type { GuardedDeletes } from '#deletion/guardedDelete';
import type { SkewGuard } from '#deletion/skewGuard';
import type { DirectReader } from '#requests/direct';
import type { RequestRules } from '#requests/rules';

export interface RestorePolicy {
  readonly allowCrossNamespace: boolean;
  /** `None`: a restored claim is its user's. `Keeper`: it ends with the request. */
  readonly ownership: 'None' | 'Keeper';
  /** Reporting controllers of Events that are heard. */
  readonly reporters: readonly string[];
}

export interface RestoreOptions {
  readonly rules: RequestRules<VolumeRestoreRequest>;
  readonly policy: RestorePolicy;
  readonly direct: DirectReader;
  readonly deletes: GuardedDeletes;
  readonly guard: SkewGuard;
  readonly random: Random;
  readonly namespace?: string;
}
