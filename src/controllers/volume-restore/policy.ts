// What the operator decided about restores, and what the controller is built from.

import type { VolumeRestoreRequest } from '#api/kinds/volumeRestoreRequest';
import type { Random } from '#base/random';
import type { GuardedDeletes } from '#lifecycle/guardedDelete';
import type { DirectReader } from '#lifecycle/requests/direct';
import type { RequestRules } from '#lifecycle/requests/rules';
import type { SkewGuard } from '#lifecycle/skewGuard';

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
