// What the operator decided about captures of manifests, and what the controller is built from.

import type { Clock } from '@lapse/base/clock';
import type { Random } from '@lapse/base/random';
import type { Client } from '@lapse/kube/client/client';
import type { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import type { GuardedDeletes } from '#deletion/guardedDelete';
import type { AuthorSeal } from '#deletion/rightsAuthor';
import type { SkewGuard } from '#deletion/skewGuard';
import type { DirectReader } from '#requests/direct';
import type { Retention } from '#requests/keeper';
import type { RequestRules } from '#requests/rules';
import type { CaptureMetrics } from './metrics.ts';

/** What becomes of the values of Secrets. */
export type SecretsMode = 'include' | 'redact' | 'refuse';

/** `Webhook`: what the author may read. `AllowList`: the kinds that are listed. `Controller`: what the controller may. */
export type Authorization = 'Webhook' | 'AllowList' | 'Controller';

export interface ManifestPolicy {
  readonly secrets: SecretsMode;
  readonly profile: 'verbatim' | 'clean';
  readonly authorization: Authorization;
  /** `ConfigMap`, `Deployment.apps`. */
  readonly allowedKinds: readonly string[];
  readonly retention: Retention;
}

/** Reads targets, whose kinds no declared right names, and reviews rights. */
export type TargetClient = Pick<Client, 'get' | 'create' | 'discovery'>;

export interface ManifestOptions {
  readonly rules: RequestRules<ManifestCaptureRequest>;
  readonly policy: ManifestPolicy;
  readonly direct: DirectReader;
  readonly targets: TargetClient;
  readonly seal: AuthorSeal;
  readonly metrics: CaptureMetrics;
  readonly clock: Clock;
  readonly deletes: GuardedDeletes;
  readonly guard: SkewGuard;
  readonly random: Random;
  readonly namespace?: string;
}
