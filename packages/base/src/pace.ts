// Virtual time that runs along with real time, faster or slower: what is due still happens at its own instant, in order,
// and everything comes to rest before time goes on. When the work takes longer than the time given to it, time slows down
// instead of the work piling up, so that nothing times out because somebody asked for speed.

import type { Clock } from './clock.ts';
import { type Instant, instant, type Millis, millis, seconds } from './instant.ts';
import { sleep } from './sleep.ts';
import type { VirtualClock } from './virtualClock.ts';

export interface PaceOptions {
  readonly virtual: VirtualClock;
  readonly real: Clock;
  /** Virtual seconds per real second. */
  readonly speed: number;
  /** Lets everything that woke come to rest. */
  readonly rest: () => Promise<void>;
}

/** How far the time that people see may be behind, in real milliseconds. */
const TICK = 50;
/** Real time that may be caught up with; more than that is given up. */
const MOST_BEHIND = seconds(1);

export class Pace {
  readonly #options: PaceOptions;
  readonly #stop = new AbortController();
  #speed: number;
  /** Where both clocks stood when the speed was last set. */
  #from!: { readonly real: Millis; readonly virtual: Instant };
  #running: Promise<void> | undefined;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#speed = options.speed;
    this.#anchor();
  }

  get speed(): number {
    return this.#speed;
  }

  setSpeed(speed: number): void {
    this.#speed = speed;
    this.#anchor();
  }

  start(): void {
    if (this.#running !== undefined) return;
    this.#anchor();
    this.#running = this.#run();
  }

  /** Resolves when time stands still. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #anchor(): void {
    const { real, virtual } = this.#options;
    this.#from = { real: real.elapsed(), virtual: virtual.now() };
  }

  async #run(): Promise<void> {
    const { virtual, real, rest } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const target = this.#target();
      const next = virtual.next();
      if (next !== undefined && next <= target) {
        await virtual.advanceTo(next, rest);
        this.#giveUpWhatIsLost();
        continue;
      }
      await virtual.advanceTo(target, rest);
      await sleep(real, millis(TICK), signal);
    }
  }

  /** The virtual time that belongs to this moment. */
  #target(): Instant {
    const { real } = this.#options;
    return instant(this.#from.virtual + (real.elapsed() - this.#from.real) * this.#speed);
  }

  #giveUpWhatIsLost(): void {
    if (this.#target() - this.#options.virtual.now() > MOST_BEHIND * this.#speed) this.#anchor();
  }
}
