// The clock of one machine: the simulation's clock plus an adjustable offset. A timer fires when this clock reaches its
// instant, even if the clock was set meanwhile. After `switchOff` no timer fires.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Instant, instant, type Millis, millis, plus } from '@lapse/base/instant';

interface Wake {
  readonly at: Instant;
  readonly fn: () => void;
  cancel: Cancel;
}

export class SkewedClock implements Clock {
  readonly #base: Clock;
  readonly #wakes = new Set<Wake>();
  #offset: Millis;
  #off = false;

  constructor(base: Clock, offset: Millis = millis(0)) {
    this.#base = base;
    this.#offset = offset;
  }

  /** This clock minus the simulation's clock. */
  get offset(): Millis {
    return this.#offset;
  }
  now(): Instant {
    return plus(this.#base.now(), this.#offset);
  }
  elapsed(): Millis {
    return this.#base.elapsed();
  }

  wakeAt(at: Instant, fn: () => void): Cancel {
    if (this.#off) return () => {};
    const wake: Wake = { at, fn, cancel: () => {} };
    this.#wakes.add(wake);
    this.#arm(wake);
    return () => {
      this.#wakes.delete(wake);
      wake.cancel();
    };
  }

  /** Sets the offset. Timers that are due by the new time fire at once. */
  set(offset: Millis): void {
    this.#offset = offset;
    for (const wake of this.#wakes) {
      wake.cancel();
      this.#arm(wake);
    }
  }

  /** Cancels all timers for good. */
  switchOff(): void {
    this.#off = true;
    for (const { cancel } of this.#wakes) cancel();
    this.#wakes.clear();
  }

  #arm(wake: Wake): void {
    wake.cancel = this.#base.wakeAt(instant(wake.at - this.#offset), () => {
      this.#wakes.delete(wake);
      wake.fn();
    });
  }
}
