// node test/security/measureHostile.ts NAME: gives one hostile input to Lapse and prints the resources it took, as
// JSON. A separate process, so that nothing else counts.

import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { nextTurn } from '@lapse/base/turn';
import { slowness } from './cpuTime.ts';
import { hostileInput } from './hostileInputs.ts';

export interface Measured {
  /** The peak resident memory during the read, minus that before. */
  readonly megabytes: number;
  /** The longest block of the event loop in milliseconds of the main thread's CPU time, see cpuTime.ts. */
  readonly blocked: number;
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
  const slow = slowness();
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
  return { megabytes: (after - before) / 1e6, blocked: blocked / slow };
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
