// node test/security/measureHostile.ts NAME: gives one hostile input to Lapse and prints the resources it took, as
// JSON. A separate process, so that nothing else counts.

import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { nextTurn } from '@lapse/base/turn';
import { hostileInput } from './hostileInputs.ts';

export interface Measured {
  /** The peak resident memory during the read, minus that before. */
  readonly megabytes: number;
  /** The longest block of the event loop, in milliseconds of the main thread's CPU time. */
  readonly blocked: number;
  /** The CPU time of a fixed amount of work in the same process: how fast the machine is right now. */
  readonly reference: number;
}

/** Samples the memory of the process all the time, also while the main thread is busy. */
const WATCHER = `
  const { workerData } = require('node:worker_threads');
  const highest = new Float64Array(workerData);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    highest[0] = Math.max(highest[0], process.memoryUsage.rss());
    Atomics.wait(pause, 0, 0, 2);
  }
`;

async function measure(name: string): Promise<Measured> {
  const run = hostileInput(name).prepare();
  const reference = measureReference();
  const memory = new SharedArrayBuffer(8);
  const highest = new Float64Array(memory);
  const watcher = new Worker(WATCHER, { eval: true, workerData: memory });
  await new Promise((resolve) => watcher.once('online', resolve));
  globalThis.gc?.();
  await nextTurn();
  const turns = watchTurns();
  const before = process.memoryUsage.rss();
  highest[0] = before;
  await nextTurn();
  await run();
  await nextTurn();
  await nextTurn();
  const after = Math.max(highest[0], process.memoryUsage.rss());
  const blocked = turns.stop();
  await watcher.terminate();
  return { megabytes: (after - before) / 1e6, blocked, reference };
}

/** Parses 1 MB of JSON, the median of nine times. */
function measureReference(): number {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ name: `object-${i}`, labels: { i } })));
  const times = Array.from({ length: 9 }, () => {
    const start = process.threadCpuUsage();
    JSON.parse(text);
    const spent = process.threadCpuUsage(start);
    return (spent.user + spent.system) / 1000;
  });
  return times.sort((a, b) => a - b)[4] as number;
}

/** CPU time instead of wall-clock time: other processes of a busy machine do not count. */
function watchTurns(): { stop(): number } {
  let longest = 0;
  let isOver = false;
  let last = process.threadCpuUsage();
  const turn = (): void => {
    const spent = process.threadCpuUsage(last);
    longest = Math.max(longest, (spent.user + spent.system) / 1000);
    last = process.threadCpuUsage();
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return {
    stop() {
      isOver = true;
      return longest;
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(JSON.stringify(await measure(process.argv[2] ?? '')));
