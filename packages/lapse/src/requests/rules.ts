// Describes one kind of request: its Kubernetes kind and its TTL policy.

import type { Millis } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { RequestObject } from '#api/storage/request';

/** `scanner`: a separate controller applies the configured TTL. `annotation`: reconcile applies the TTL annotation. */
export type TtlMode = 'scanner' | 'annotation';

export interface RequestTtl {
  readonly mode: TtlMode;
  /** As configured: `10m`. */
  readonly text: string;
  readonly length: Millis;
}

export interface RequestRules<T extends RequestObject = RequestObject> {
  readonly kind: Kind<T>;
  readonly annotationKey: string;
  readonly ttl: RequestTtl;
}
