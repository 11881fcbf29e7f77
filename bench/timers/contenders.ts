// One contender in a separate process: `contenders.ts NAME COUNT` prints its figures as JSON.

import type { Clock } from '@lapse/base/clock';
import { type Instant, instant, millis } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { Interner, type KeyId } from '@lapse/runtime/interner';
import { Timers } from '@lapse/runtime/timers';
import type { Measured } from './bench.ts';
import { ObjectHeap } from './objectHeap.ts';

const WEEK = 7 * 86_400_000;

/** A structure to fill, and a function that empties it. */
interface Filled {
  readonly keep: unknown;
  pop?(): void;
}

interface Contender {
  fill(count: number, dueAt: (i: number) => Instant): Filled;
}

/** The benchmark calls its one wake directly. */
class HandClock implements Clock {
  time = instant(0);
  wake = () => {};
  now = () => this.time;
  elapsed = () => millis(this.time);
  wakeAt(_at: Instant, fn: () => void) {
    this.wake = fn;
    return () => {};
  }
}

const contenders: Readonly<Record<string, Contender>> = {
  lane: {
    fill(count, dueAt) {
      const byHand = new HandClock();
      let popped = 0;
      const timers = new Timers(byHand);
      const lane = timers.lane(() => popped++);
      for (let i = 0; i < count; i++) lane.setEarlier(i as KeyId, dueAt(i));
      return {
        keep: timers,
        pop() {
          byHand.time = instant(2 * WEEK);
          const start = performance.now();
          while (lane.size > 0) byHand.wake();
          popSeconds = (performance.now() - start) / 1000;
          if (popped !== count) throw new Error(`${popped} of ${count} came`);
        },
      };
    },
  },
  'object-heap': {
    fill(count, dueAt) {
      const heap = new ObjectHeap();
      for (let i = 0; i < count; i++) heap.push({ at: dueAt(i), id: i });
      return {
        keep: heap,
        pop() {
          const start = performance.now();
          let popped = 0;
          while (heap.pop() !== undefined) popped++;
          popSeconds = (performance.now() - start) / 1000;
          if (popped !== count) throw new Error(`${popped} of ${count} came`);
        },
      };
    },
  },
  setTimeout: {
    fill(count, dueAt) {
      const timers: NodeJS.Timeout[] = [];
      for (let i = 0; i < count; i++) timers.push(setTimeout(() => {}, dueAt(i)));
      return { keep: timers };
    },
  },
  'interned-keys': {
    fill(count) {
      const interner = new Interner();
      for (let i = 0; i < count; i++) interner.intern(`team-${i % 100}/report-${i}-x7k2p`);
      return { keep: interner };
    },
  },
};

let popSeconds: number | undefined;

function used(): number {
  // Twice: array buffers are freed by the collection after the one that finds them.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers, external } = process.memoryUsage();
  return heapUsed + Math.max(arrayBuffers, external);
}

const [name = '', countText = '0'] = process.argv.slice(2);
const count = Number(countText);
const random = seededRandom(7);
const due = Float64Array.from({ length: count }, () => Math.floor(random.next() * WEEK));
const contender = contenders[name]!;
const before = used();
const start = performance.now();
const filled = contender.fill(count, (i) => instant(due[i]!));
const insertSeconds = (performance.now() - start) / 1000;
const megabytes = (used() - before) / 2 ** 20;
filled.pop?.();
const measured: Measured = {
  contender: name,
  count,
  megabytes,
  insertPerSecond: count / insertSeconds,
  popPerSecond: popSeconds === undefined ? undefined : count / popSeconds,
};
process.stdout.write(JSON.stringify(measured));
process.exit();
