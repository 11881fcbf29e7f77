// The operator's settings for manifest captures, and the dependencies of the controller.

import type { Clock } from '@lapse/base/clock';
import type { Random } from '@lapse/base/random';
import type { Client } from '@lapse/kube/client/client';
import type { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import type { AuthorSeal } from '#authors/authorSeal';
import type { Expirer } from '#deletion/expirer';
import type { SkewGuard } from '#deletion/skewGuard';
import type { DirectReader } from '#requests/direct';
import type { Retention } from '#requests/keeper';
import type { RequestRules } from '#requests/rules';
import type { CaptureMetrics } from './metrics.ts';

/** How the values of Secrets are treated. */
export type SecretsMode = 'include' | 'redact' | 'refuse';

/** `Webhook`: the author's rights. `AllowList`: the listed kinds. `Controller`: the controller's rights. */
export type Authorization = 'Webhook' | 'AllowList' | 'Controller';

export interface ManifestPolicy {
  readonly secrets: SecretsMode;
  readonly profile: 'verbatim' | 'clean';
  readonly authorization: Authorization;
  /** For example `ConfigMap`, `Deployment.apps`. */
  readonly allowedKinds: readonly string[];
  readonly retention: Retention;
}

/** Reads targets, whose kinds no declared right covers, and reviews rights. */
export type TargetClient = Pick<Client, 'get' | 'create' | 'discovery'>;

export interface ManifestOptions {
  readonly rules: RequestRules<ManifestCaptureRequest>;
  readonly policy: ManifestPolicy;
  readonly direct: DirectReader;
  readonly targets: TargetClient;
  readonly seal: AuthorSeal;
  readonly metrics: CaptureMetrics;
  readonly clock: Clock;
  readonly expirer: Expirer<unknown>;
  readonly guard: SkewGuard;
  readonly random: Random;
  readonly namespace?: string;
}
