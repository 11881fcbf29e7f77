// What a watch is asked for, and how to notice a connection that died without a word.

import type { Millis } from '@lapse/base/instant';
import { minutes, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import type { Source } from './source.ts';

/** In process there is nothing to notice; behind a socket there is. */
export interface Liveness {
  /** The server is asked to end the watch after a time between these, so that load spreads after a restart. */
  readonly endAfter: readonly [Millis, Millis];
  /** A watch with neither event nor bookmark for this long is broken. Bookmarks come about every minute. */
  readonly silence: Millis;
}

export const SOCKET_LIVENESS: Liveness = { endAfter: [minutes(5), minutes(10)], silence: seconds(150) };

/** Whole seconds, as the server counts them. */
export function computeEnd({ endAfter: [least, most] }: Liveness, random: Random): number {
  return Math.max(1, Math.round((least + (most - least) * random.next()) / 1000));
}

/** The part of a source that goes into the query. */
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
