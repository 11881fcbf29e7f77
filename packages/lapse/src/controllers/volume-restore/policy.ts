// The operator's settings for restores, and the dependencies of the controller.

import type { Millis } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import type { Expirer } from '#deletion/expirer';
import type { SkewGuard } from '#deletion/skewGuard';
import type { DirectReader } from '#requests/direct';
import type { RequestRules } from '#requests/rules';

export interface RestorePolicy {
  readonly allowCrossNamespace: boolean;
  /** `Auto`: Lapse, except on clusters with Deckhouse, whose provisioner serves restore requests. */
  readonly executor: 'Auto' | 'Lapse' | 'External';
  /** For executor Lapse: how long errors of the provisioner are retried. */
  readonly timeout: Millis;
  /** `None`: a restored claim belongs to its user. `Keeper`: it is deleted with the request. */
  readonly ownership: 'None' | 'Keeper';
  /** Reporting controllers whose Events are read. */
  readonly reporters: readonly string[];
}

export interface RestoreOptions {
  readonly rules: RequestRules<VolumeRestoreRequest>;
  readonly policy: RestorePolicy;
  readonly direct: DirectReader;
  readonly expirer: Expirer<unknown>;
  readonly guard: SkewGuard;
  readonly random: Random;
  readonly namespace?: string;
}
