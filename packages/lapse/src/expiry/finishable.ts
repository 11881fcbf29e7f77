// Describes a kind whose objects finish: which fields are cached, when an object finished, which TTL it has. Pure. The
// decisions are the same for every kind and are in compute.ts.

import { type Instant, instant, parseTime, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Projection } from '@lapse/runtime/source';
import type { Finish, Ttl } from './expiry.ts';

/** Why an object is kept although it has a TTL. */
export interface Exemption {
  readonly kind: 'exempt';
  /** The CamelCase reason of the Event. */
  readonly reason: string;
  readonly because: 'owned by a Job' | 'restart policy Always';
  readonly note: string;
}

/** When this process first saw that an object had finished. */
export interface FirstSight {
  readonly at: Instant;
  /** True: the object finished while it was watched. False: it had finished before the watch started. */
  readonly isTransition: boolean;
}

export interface Finishable<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** Name of the controller and of its workqueue metrics. */
  readonly controller: string;
  readonly queue: string;
  /** Excludes objects that cannot have finished from the cache. */
  readonly fieldSelector?: string;
  /** Keeps exactly the fields that `finish`, `ttl` and `exempt` read: projection and object give the same decision. */
  readonly projection: Projection<T>;
  finish(object: T, sight?: FirstSight): Finish;
  /** The object has finished, but its status does not contain the time: `finish` needs the first sight. */
  needsFirstSight?(object: T): boolean;
  ttl(object: T): Ttl;
  exempt?(object: T): Exemption | undefined;
}

/** The longest TTL of a Job: 68 years. */
export const MOST_SECONDS = 2 ** 31 - 1;

/** Accepts a whole number of seconds from 0 to 2³¹−1; otherwise `invalid` with the reason. */
export function ttlOf(value: unknown, rule: string): Ttl {
  if (value === undefined || value === null) return { kind: 'none' };
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_SECONDS)
    return { kind: 'after', length: seconds(value), rule };
  const shown = String(value).slice(0, 40);
  const note = `${rule} is ${JSON.stringify(shown)}, not a whole number of seconds from 0 to ${MOST_SECONDS}`;
  return { kind: 'invalid', note };
}

/**
 * The Unix epoch, which container runtimes write when they do not know the time. Go's zero time (`metav1.Time{}`) is
 * earlier. Both count as missing; otherwise the object would be deleted at once.
 */
const ZERO = instant(0);

/** Parses a timestamp of an object; undefined if it is missing, zero or invalid. */
export function timeOf(text: unknown): Instant | undefined {
  if (typeof text !== 'string') return undefined;
  const at = parseTime(text);
  return Number.isFinite(at) && at > ZERO ? at : undefined;
}
