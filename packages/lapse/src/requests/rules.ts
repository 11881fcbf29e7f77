// What the kernel must know about one kind of request: how it is addressed, and the TTL policy it lives under.

import type { Millis } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { RequestObject } from '#api/storage/request';

/** `scanner`: the controller's TTL decides, outside of reconcile. `annotation`: the object's annotation, inside of it. */
export type TtlMode = 'scanner' | 'annotation';

export interface RequestTtl {
  readonly mode: TtlMode;
  /** As configured, verbatim: `10m`. */
  readonly text: string;
  readonly length: Millis;
}

export interface RequestRules<T extends RequestObject = RequestObject> {
  readonly kind: Kind<T>;
  readonly annotationKey: string;
  readonly ttl: RequestTtl;
}
