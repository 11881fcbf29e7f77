// Until when the leader may act. The validity ends as soon as either clock says so: the monotonic clock may stop while the
// machine is suspended, the wall clock may be set. Writers check it directly, because a timer may fire late.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Instant, type Millis, minus, plus } from '@lapse/base/instant';
import { wakeAfter } from '@lapse/base/monotonic';

export class Validity {
  readonly #clock: Clock;
  readonly #length: Millis;
  #wallUntil: Instant | undefined;
  #until = Number.NEGATIVE_INFINITY;
  #cancels: Cancel[] = [];

  /** `length` counts from the moment a successful renewal was sent. */
  constructor(clock: Clock, length: Millis) {
    this.#clock = clock;
    this.#length = length;
  }

  isValid(): boolean {
    const { now, elapsed } = { now: this.#clock.now(), elapsed: this.#clock.elapsed() };
    return this.#wallUntil !== undefined && now < this.#wallUntil && elapsed < this.#until;
  }

  /** A renewal sent at these times succeeded. `onEnd` is called once when the validity ends, unless it is extended. */
  extend(sent: { readonly wall: Instant; readonly elapsed: Millis }, onEnd: () => void): void {
    this.end();
    this.#wallUntil = plus(sent.wall, this.#length);
    this.#until = sent.elapsed + this.#length;
    const check = () => {
      if (this.isValid()) return;
      this.end();
      onEnd();
    };
    const { now, elapsed } = { now: this.#clock.now(), elapsed: this.#clock.elapsed() };
    const left = Math.min(minus(this.#wallUntil, now), this.#until - elapsed) as Millis;
    this.#cancels = [wakeAfter(this.#clock, left, check), this.#clock.wakeAt(this.#wallUntil, check)];
  }

  end(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels = [];
    this.#wallUntil = undefined;
  }
}
