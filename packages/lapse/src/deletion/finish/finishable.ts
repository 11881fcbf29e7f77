// A kind whose objects finish, as data: what of it is kept in memory, when it finished, what TTL it has. Everything here
// is pure; the decisions are in compute.ts, the same for every kind.

import { type Instant, instant, parseTime, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Projection } from '@lapse/runtime/source';
import type { Finish, Ttl } from '../expiry.ts';

/** Why an object that would end is left alone all the same. */
export interface Exemption {
  readonly kind: 'exempt';
  /** One word in CamelCase, the reason of the Event. */
  readonly reason: string;
  readonly because: 'owned by a Job' | 'restart policy Always';
  readonly note: string;
}

/** When this process first saw an object finished. */
export interface FirstSight {
  readonly at: Instant;
  /** The object turned finished while it was watched; false: it was finished when the watch began. */
  readonly isTransition: boolean;
}

export interface Finishable<T extends KubeObject> {
  readonly kind: Kind<T>;
  /** `name` of the controller and of its workqueue metrics. */
  readonly controller: string;
  readonly queue: string;
  /** Objects that cannot have finished never enter memory. */
  readonly fieldSelector?: string;
  /** Keeps exactly what `finish`, `ttl` and `exempt` read: decisions about the projection and the object are the same. */
  readonly projection: Projection<T>;
  finish(object: T, sight?: FirstSight): Finish;
  /** The object has finished, and its status alone does not say when: `finish` needs the first sight. */
  needsFirstSight?(object: T): boolean;
  ttl(object: T): Ttl;
  exempt?(object: T): Exemption | undefined;
}

/** The longest TTL a Job can have: 68 years. */
export const MOST_SECONDS = 2 ** 31 - 1;

/** A whole number of seconds from 0 to 2³¹−1, or what is wrong with it. */
export function ttlOf(value: unknown, rule: string): Ttl {
  if (value === undefined || value === null) return { kind: 'none' };
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_SECONDS)
    return { kind: 'after', length: seconds(value), rule };
  const shown = String(value).slice(0, 40);
  const note = `${rule} is ${JSON.stringify(shown)}, not a whole number of seconds from 0 to ${MOST_SECONDS}`;
  return { kind: 'invalid', note };
}

/**
 * Unix's zero, which runtimes of containers write where they know no time; Go's (`metav1.Time{}`) lies before. Nothing that
 * Kubernetes ran has finished then, and whoever believed it would delete at once.
 */
const ZERO = instant(0);

/** A time of an object; undefined when it is missing, zero, or not a time. */
export function timeOf(text: unknown): Instant | undefined {
  if (typeof text !== 'string') return undefined;
  const at = parseTime(text);
  return Number.isFinite(at) && at > ZERO ? at : undefined;
}
