// Counts requests in flight, so that shutdown can wait for them.

import { realClock } from '@lapse/base/clock';
import { type Millis, plus } from '@lapse/base/instant';

export class InFlight {
  #count = 0;
  #waiting: (() => void)[] = [];

  enter(): void {
    this.#count++;
  }

  leave(): void {
    if (--this.#count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when nothing is in flight, or after `timeout` of real time, since sockets and disks use the real clock. */
  async drained(timeout: Millis): Promise<void> {
    if (this.#count === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const cancel = realClock.wakeAt(plus(realClock.now(), timeout), resolve);
    await promise;
    cancel();
  }
}
