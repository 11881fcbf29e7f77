// What the kernel must know about one kind of request: how it is addressed, and the TTL policy it lives under.

import type { Kind } from '#api/kind';
import type { RequestObject } from '#api/kinds/storage/request';
import type { Millis } from '#base/instant';

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
