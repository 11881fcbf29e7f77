// Aggregates repeated Events into series: the first creates an Event, the second makes it a series, further ones are
// counted here and written when the series ends, or every half hour while it continues. Also limits the rate of
// different Events per object.

import { BoundedMap } from '@lapse/base/boundedMap';
import { formatMicroTime, type Instant, type Millis, minus, minutes } from '@lapse/base/instant';
import { TokenBucket } from '@lapse/base/tokenBucket';
import type { KubeEvent } from './build.ts';

/** A write to the API server. */
export type EventWrite =
  | { readonly kind: 'create'; readonly event: KubeEvent }
  | { readonly kind: 'count'; readonly event: KubeEvent };

interface Entry {
  event: KubeEvent;
  lastSeen: Instant;
  lastWritten: Instant;
  /** Whether the count has changed since the last write. */
  unwritten: boolean;
}

// The limits are those of client-go.
/** A series ends after this long without a repetition. */
export const FINISH_AFTER = minutes(6);
/** How often a continuing series is written. */
const REFRESH_AFTER = minutes(30);
const SPAM_BURST = 25;
const SPAM_PER_SECOND = 1 / 300;
/** Maximum number of entries, for series and for rate limits each. */
const MAX_ENTRIES = 4096;

export class EventSeriesTracker {
  readonly #entries = new BoundedMap<string, Entry>(MAX_ENTRIES);
  readonly #spam = new BoundedMap<string, TokenBucket>(MAX_ENTRIES);

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the write that is due now; `counted` if none is; `dropped` if the object exceeds its rate limit. */
  observe(event: KubeEvent, now: Instant, elapsed: Millis): EventWrite | 'counted' | 'dropped' {
    const key = keyOf(event);
    const known = this.#entries.get(key);
    if (known === undefined) {
      if (this.#isSpam(event, elapsed)) return 'dropped';
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

  /** Removes ended series and returns the counts that must be written. */
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

  /** Returns all counts that are not written yet. */
  flush(now: Instant): EventWrite[] {
    return [...this.#entries.values()]
      .filter(({ unwritten }) => unwritten)
      .map((entry) => written(entry, now));
  }

  #isSpam(event: KubeEvent, elapsed: Millis): boolean {
    const key = [event.regarding.uid, event.regarding.kind, event.regarding.name, event.type].join('\n');
    let bucket = this.#spam.get(key);
    if (bucket === undefined) {
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

/** Identifies equal Events. The object's resourceVersion and the note do not matter. */
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
