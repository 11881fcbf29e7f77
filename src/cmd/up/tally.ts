// What is still waited for, and what has ended: for the summary at the end.

import type { Clock } from '#base/clock';
import { type Instant, type Millis, minus } from '#base/instant';
import type { PassRecord } from '#runtime/worker';
import type { Change } from '#sim/history';
import { lengthText } from '#sim/timeline';

export class Tally {
  readonly #clock: Clock;
  readonly #start: Instant;
  readonly #waits = new Map<string, { key: string; at: Instant }>();
  #ended = 0;
  #failed = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#start = clock.now();
  }

  pass({ controller, key, outcome }: PassRecord & { readonly controller: string }): void {
    const id = `${controller} ${key}`;
    if (outcome.kind === 'waitUntil') this.#waits.set(id, { key, at: outcome.at });
    else this.#waits.delete(id);
    if (outcome.kind === 'failed') this.#failed++;
  }

  /** Once per object: when its deletion was accepted. */
  change({ before, after, by }: Change): void {
    const was = before?.metadata.deletionTimestamp !== undefined;
    const is = after === undefined || after.metadata.deletionTimestamp !== undefined;
    if (by === 'process' && is && !was) this.#ended++;
  }

  text(stamp: (at: Instant) => string): string {
    const length = lengthText((Math.floor(minus(this.#clock.now(), this.#start) / 1000) * 1000) as Millis);
    const next = [...this.#waits.values()].sort((a, b) => a.at - b.at)[0];
    const waiting = next === undefined ? '' : ` (next: ${next.key} at ${stamp(next.at)})`;
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed attempts`;
    return `in ${length}: ${this.#ended} ended, ${this.#waits.size} waiting${waiting}${failed}`;
  }
}
