// Advances virtual time in proportion to real time, at a configurable speed. Every timer still fires at its own
// instant, in order, and all work it triggers finishes before time advances. If the work takes longer than the
// available real time, virtual time slows down, so a high speed cannot cause timeouts.

import type { Clock } from './clock.ts';
import { type Instant, instant, type Millis, millis, seconds } from './instant.ts';
import { sleep } from './sleep.ts';
import type { VirtualClock } from './virtualClock.ts';

export interface PaceOptions {
  readonly virtual: VirtualClock;
  readonly real: Clock;
  /** Virtual seconds per real second. */
  readonly speed: number;
  /** Resolves when all work that was triggered so far has finished. */
  readonly rest: () => Promise<void>;
}

/** Interval between advances, in real milliseconds. The displayed time is at most this far behind. */
const TICK = 50;
/** Maximum backlog of real time to catch up with. Anything beyond is dropped. */
const MAX_BACKLOG = seconds(1);

export class Pace {
  readonly #options: PaceOptions;
  readonly #stop = new AbortController();
  #speed: number;
  /** Both clocks at the moment the speed was last set. */
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

  /** Resolves when virtual time no longer advances. */
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
        this.#dropExcessBacklog();
        continue;
      }
      await virtual.advanceTo(target, rest);
      await sleep(real, millis(TICK), signal);
    }
  }

  /** The virtual time that corresponds to the current real time. */
  #target(): Instant {
    const { real } = this.#options;
    return instant(this.#from.virtual + (real.elapsed() - this.#from.real) * this.#speed);
  }

  #dropExcessBacklog(): void {
    if (this.#target() - this.#options.virtual.now() > MAX_BACKLOG * this.#speed) this.#anchor();
  }
}
