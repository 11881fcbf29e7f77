// Decides which chunks are removed, and when. Pure.

import { type Instant, isDue, type Millis, plus } from '@lapse/base/instant';
import type { ChunkInfo } from './store.ts';

export interface RetentionRule {
  readonly keep: Millis;
  readonly maxBytes: number;
}

export type ChunkDecision =
  | { readonly kind: 'keep'; readonly until: Instant }
  /** Its time is over. */
  | { readonly kind: 'expired'; readonly since: Instant }
  /** The trash is too large: it is removed before its time, which would have been `until`. */
  | { readonly kind: 'crowded'; readonly until: Instant };

/** The names of the oldest chunks whose removal brings the size down to the limit. */
function crowdedOut(chunks: readonly ChunkInfo[], { maxBytes }: RetentionRule): ReadonlySet<string> {
  let bytes = chunks.reduce((sum, chunk) => sum + sizeOf(chunk), 0);
  const names = new Set<string>();
  for (const chunk of chunks.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (bytes <= maxBytes) break;
    bytes -= sizeOf(chunk);
    names.add(chunk.name);
  }
  return names;
}

const sizeOf = ({ bytes }: ChunkInfo): number => (Number.isFinite(bytes) ? bytes : 0);

/** The decision about each chunk. A chunk without a readable time counts from now on. */
export function decideChunks(
  chunks: readonly ChunkInfo[],
  rule: RetentionRule,
  now: Instant,
): ReadonlyMap<string, ChunkDecision> {
  const untilOf = ({ savedAt }: ChunkInfo): Instant =>
    plus(Number.isFinite(savedAt) ? savedAt : now, rule.keep);
  const left = chunks.filter((chunk) => !isDue(untilOf(chunk), now));
  const crowded = crowdedOut(left, rule);
  return new Map(
    chunks.map((chunk): [string, ChunkDecision] => {
      const until = untilOf(chunk);
      if (isDue(until, now)) return [chunk.name, { kind: 'expired', since: until }];
      return [chunk.name, { kind: crowded.has(chunk.name) ? 'crowded' : 'keep', until }];
    }),
  );
}
