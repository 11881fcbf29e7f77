// One machine's view of time: the simulation's clock plus an offset that can be set. Whoever waits for an instant is
// woken when this clock shows it, also when it was set meanwhile. A machine that is switched off wakes nobody.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Instant, instant, type Millis, millis, plus } from '@lapse/base/instant';

interface Wake {
  readonly at: Instant;
  readonly fn: () => void;
  cancel: Cancel;
}

export class SkewedClock implements Clock {
  readonly #truth: Clock;
  readonly #wakes = new Set<Wake>();
  #offset: Millis;
  #off = false;

  constructor(truth: Clock, offset: Millis = millis(0)) {
    this.#truth = truth;
    this.#offset = offset;
  }

  /** This clock minus the true one. */
  get offset(): Millis {
    return this.#offset;
  }
  now(): Instant {
    return plus(this.#truth.now(), this.#offset);
  }
  elapsed(): Millis {
    return this.#truth.elapsed();
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

  /** Sets the clock: what is due by it now is woken at once. */
  set(offset: Millis): void {
    this.#offset = offset;
    for (const wake of this.#wakes) {
      wake.cancel();
      this.#arm(wake);
    }
  }

  /** Nobody is woken any more. */
  switchOff(): void {
    this.#off = true;
    for (const { cancel } of this.#wakes) cancel();
    this.#wakes.clear();
  }

  #arm(wake: Wake): void {
    wake.cancel = this.#truth.wakeAt(instant(wake.at - this.#offset), () => {
      this.#wakes.delete(wake);
      wake.fn();
    });
  }
}
