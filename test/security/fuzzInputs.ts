// node test/security/fuzzInputs.ts TARGET SEED COUNT: gives changed inputs to one reader and prints a report as JSON. A
// separate process, so that time and memory are those of the reader.

import { fileURLToPath } from 'node:url';
import { seededRandom } from '@lapse/base/random';
import { millisOf, slowness } from './cpuTime.ts';
import { FUZZ_TARGETS, type FuzzTarget } from './fuzzTargets.ts';

export interface FuzzInputReport {
  readonly runs: number;
  /** Seeds of inputs for which the reader threw an unexpected error, with the error. */
  readonly crashes: readonly string[];
  /** The longest CPU time of one input in milliseconds (see cpuTime.ts), and its seed. */
  readonly longest: number;
  readonly slowest: number;
  /** Retained memory: growth of the memory in use after the first tenth of the inputs. */
  readonly megabytes: number;
}

/** Node frees the buffers of synchronous calls only in a turn of the event loop. */
const freeBuffers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Collected buffers are freed in a turn after the first collection. */
async function memoryInUse(): Promise<number> {
  globalThis.gc?.();
  await freeBuffers();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const PATIENCE = 50;

export function targetNamed(name: string): FuzzTarget {
  const found = FUZZ_TARGETS.find((target) => target.name === name);
  if (found === undefined) throw new Error(`there is no target ${name}`);
  return found;
}

export async function fuzzTarget(target: FuzzTarget, seed: number, count: number): Promise<FuzzInputReport> {
  const slow = slowness();
  const crashes: string[] = [];
  let [longest, slowest, before, highest] = [0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    if (i % 20 === 0) await freeBuffers();
    const own = seed + i;
    try {
      const millis = bestMillis(() => target.run(seededRandom(own))) / slow;
      if (millis > longest) [longest, slowest] = [millis, own];
    } catch (error) {
      crashes.push(`seed ${own}: ${(error as Error).stack ?? String(error)}`);
    }
    if (i % (count / 10) !== 0) continue;
    const inUse = await memoryInUse();
    if (i <= count / 10) before = inUse;
    highest = Math.max(highest, inUse);
  }
  return { runs: count, crashes, longest, slowest, megabytes: Math.max(0, highest - before) / 1e6 };
}

/** The best of three if the first was slow: compilation and garbage collection do not count. */
function bestMillis(work: () => void): number {
  const first = millisOf(work);
  return first < PATIENCE ? first : Math.min(first, millisOf(work), millisOf(work));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', seed, count] = process.argv.slice(2);
  process.stdout.write(JSON.stringify(await fuzzTarget(targetNamed(name), Number(seed), Number(count))));
}
