// Saying the same thing again counts instead of repeating: the first is an Event, the second makes it a series, further
// ones are counted here and written when the series is over (or every half hour while it goes on). One object cannot
// fill the cluster with different things said about it either.

import { formatMicroTime, type Instant, type Millis, minus, minutes } from '@lapse/base/instant';
import { TokenBucket } from '@lapse/base/tokenBucket';
import type { KubeEvent } from './build.ts';

/** What must be written to the API server. */
export type EventWrite =
  | { readonly kind: 'create'; readonly event: KubeEvent }
  | { readonly kind: 'count'; readonly event: KubeEvent };

interface Entry {
  event: KubeEvent;
  lastSeen: Instant;
  lastWritten: Instant;
  /** What is counted and not written yet. */
  unwritten: boolean;
}

// The numbers are client-go's.
/** Quiet for this long, a series is over. */
export const FINISH_AFTER = minutes(6);
/** A series that goes on is written this often. */
const REFRESH_AFTER = minutes(30);
const SPAM_BURST = 25;
const SPAM_PER_SECOND = 1 / 300;
/** Objects remembered at most, for either purpose. */
const MOST = 4096;

export class EventSeriesBook {
  readonly #entries = new Map<string, Entry>();
  readonly #spam = new Map<string, TokenBucket>();

  get size(): number {
    return this.#entries.size;
  }

  /** What has to be written now; `dropped` when too much was said about the object lately. */
  observe(event: KubeEvent, now: Instant, elapsed: Millis): EventWrite | 'counted' | 'dropped' {
    const key = keyOf(event);
    const known = this.#entries.get(key);
    if (known === undefined) {
      if (this.#isSpam(event, elapsed)) return 'dropped';
      forgetOldest(this.#entries);
      this.#entries.set(key, { event, lastSeen: now, lastWritten: now, unwritten: false });
      return { kind: 'create', event };
    }
    const first = known.event.series === undefined;
    const count = (known.event.series?.count ?? 1) + 1;
    known.event = { ...known.event, series: { count, lastObservedTime: formatMicroTime(now) } };
    known.lastSeen = now;
    known.unwritten = !first;
    if (!first) return 'counted';
    known.lastWritten = now;
    return { kind: 'count', event: known.event };
  }

  /** Ends what is over; gives the counts that have to be written. */
  sweep(now: Instant): EventWrite[] {
    const writes: EventWrite[] = [];
    for (const [key, entry] of this.#entries) {
      const over = minus(now, entry.lastSeen) >= FINISH_AFTER;
      if (over) this.#entries.delete(key);
      if (entry.unwritten && (over || minus(now, entry.lastWritten) >= REFRESH_AFTER))
        writes.push(written(entry, now));
    }
    return writes;
  }

  /** Everything that is counted and not written. */
  flush(now: Instant): EventWrite[] {
    return [...this.#entries.values()]
      .filter(({ unwritten }) => unwritten)
      .map((entry) => written(entry, now));
  }

  #isSpam(event: KubeEvent, elapsed: Millis): boolean {
    const key = [event.regarding.uid, event.regarding.kind, event.regarding.name, event.type].join('\n');
    let bucket = this.#spam.get(key);
    if (bucket === undefined) {
      forgetOldest(this.#spam);
      bucket = new TokenBucket({ perSecond: SPAM_PER_SECOND, burst: SPAM_BURST, now: elapsed });
      this.#spam.set(key, bucket);
    }
    return bucket.take(elapsed) > 0;
  }
}

function written(entry: Entry, now: Instant): EventWrite {
  entry.unwritten = false;
  entry.lastWritten = now;
  return { kind: 'count', event: entry.event };
}

/** The same thing said about the same object; its version and the wording do not matter. */
function keyOf({ type, action, reason, reportingController, regarding, related }: KubeEvent): string {
  const { uid, apiVersion, kind, name, namespace } = regarding;
  const parts = [
    type,
    action,
    reason,
    reportingController,
    apiVersion,
    kind,
    namespace,
    name,
    uid,
    related?.uid,
  ];
  return parts.join('\n');
}

function forgetOldest<V>(map: Map<string, V>): void {
  if (map.size < MOST) return;
  const [oldest] = map.keys();
  map.delete(oldest!);
}
