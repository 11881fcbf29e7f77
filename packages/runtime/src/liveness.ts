// Watch query parameters and the detection of dead connections.

import type { Millis } from '@lapse/base/instant';
import { minutes, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { Source } from './source.ts';

/** Limits for watches over a socket. In-process watches need none. */
export interface Liveness {
  /** Range of the timeoutSeconds that is requested at random, so that load spreads after a restart. */
  readonly endAfter: readonly [Millis, Millis];
  /** A watch without an event or bookmark for this long is considered dead. Bookmarks arrive about every minute. */
  readonly silence: Millis;
}

export const SOCKET_LIVENESS: Liveness = { endAfter: [minutes(5), minutes(10)], silence: seconds(150) };

/** A random timeoutSeconds within `endAfter`. */
export function computeEnd({ endAfter: [least, most] }: Liveness, random: Random): number {
  return Math.max(1, Math.round((least + (most - least) * random.next()) / 1000));
}

/** The query parameters of a source. */
export function selectionOf(source: Omit<Source, 'kind' | 'projection' | 'indexes'>): {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
} {
  const { namespace, labelSelector, fieldSelector } = source;
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
