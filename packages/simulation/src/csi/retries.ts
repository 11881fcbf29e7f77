// The retry delays of the CSI sidecars: 1 s, doubled up to 5 min, per object. A failure while a retry is already scheduled
// counts, but does not postpone that retry, as in client-go's rate limiting queue.

import { type Instant, isDue, millis, minutes, plus } from '@lapse/base/instant';

const MAX = minutes(5);

export class Retries {
  readonly #entries = new Map<string, { failures: number; retryAt: Instant }>();

  /** Returns when to retry. */
  failed(id: string, now: Instant): Instant {
    const known = this.#entries.get(id);
    const failures = (known?.failures ?? 0) + 1;
    const next = plus(now, millis(Math.min(MAX, 1000 * 2 ** Math.min(failures - 1, 20))));
    const scheduled = known !== undefined && !isDue(known.retryAt, now) && known.retryAt < next;
    const retryAt = scheduled ? known.retryAt : next;
    this.#entries.set(id, { failures, retryAt });
    return retryAt;
  }

  /** When the scheduled retry is due; undefined if none is scheduled. */
  retryAt(id: string): Instant | undefined {
    return this.#entries.get(id)?.retryAt;
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }
}
