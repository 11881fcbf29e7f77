// A million Cleaners that wait for their TTL, as held by the controller's queue, in a separate process: prints the
// figures as JSON. `waiting.ts COUNT`.

import { realClock } from '@lapse/base/clock';
import { instant, plus } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { Interner } from '@lapse/runtime/interner';
import { Queue } from '@lapse/runtime/queue';
import { Timers } from '@lapse/runtime/timers';

export interface Waiting {
  readonly count: number;
  /** Size of the queue and its timers. */
  readonly megabytes: number;
  /** Size of the keys, which the cache needs anyway. */
  readonly keyMegabytes: number;
  readonly perSecond: number;
}

const MONTH = 30 * 86_400_000;
const collect = () => (globalThis as { gc?: () => void }).gc?.();
const used = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const count = Number(process.argv[2] ?? 1_000_000);
const random = seededRandom(1);
const interner = new Interner();
const before = used();
const ids = Array.from({ length: count }, (_, i) => interner.intern(`previews-${i % 500}/sfj-${i}`));
const keys = used();
const queue = new Queue({ clock: realClock, random, timers: new Timers(realClock), interner });
const now = realClock.now();
const start = performance.now();
for (const id of ids) queue.addAt(id, plus(now, (60_000 + random.next() * MONTH) as never), 'deadline: ttl');
const seconds = (performance.now() - start) / 1000;
const after = used();
const figures: Waiting = {
  count,
  megabytes: (after - keys) / 2 ** 20,
  keyMegabytes: (keys - before) / 2 ** 20,
  perSecond: count / seconds,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
if (queue.take() !== undefined || instant(0) > now) throw new Error('nothing is due');
process.exit(0);
