// npm run bench -- head-to-head [--quick] [--out DIR] [--only burst,lateness,race,memory] [--built]: the controller of
// kube-controller-manager (with its defaults, and tuned), Lapse (with --built compiled, as published), and a bare loop
// of DELETEs, on the same data on one real API server.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machine } from '../machine.ts';
import { Arena } from './arena.ts';
import { type BurstSizes, bursts } from './burst.ts';
import { type LatenessSizes, latenesses } from './lateness.ts';
import { type WaitingSizes, waitings } from './memory.ts';
import { pictureOf } from './picture.ts';
import { type RaceSizes, races } from './race.ts';
import { type Results, tableOf } from './report.ts';

interface Sizes {
  readonly burst: BurstSizes;
  readonly lateness: LatenessSizes;
  readonly race: RaceSizes;
  readonly waiting: WaitingSizes;
}

const FULL: Sizes = {
  burst: { jobs: 10_000, windowMs: 30_000 },
  lateness: { steady: 150, timerSeconds: 10, crowd: 2000 },
  race: { seconds: 50, perSecond: 40 },
  waiting: { jobs: 100_000, idleMs: 5000 },
};
const QUICK: Sizes = {
  burst: { jobs: 300, windowMs: 6000 },
  lateness: { steady: 20, timerSeconds: 2, crowd: 100 },
  race: { seconds: 4, perSecond: 20 },
  waiting: { jobs: 1000, idleMs: 1000 },
};

const ROUNDS = ['burst', 'lateness', 'race', 'memory'];

function optionOf(args: readonly string[], name: string): string | undefined {
  const at = args.indexOf(name);
  return at === -1 ? undefined : args[at + 1];
}

async function measure(arena: Arena, sizes: Sizes, only: readonly string[]): Promise<Results> {
  const say = (what: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${what} …\n`);
  const round = async <R>(name: string, run: () => Promise<R[]>): Promise<R[]> => {
    if (!only.includes(name)) return [];
    say(name);
    try {
      return await run();
    } catch (error) {
      // Keeps the results of the other rounds.
      process.stderr.write(`${name} failed: ${error instanceof Error ? error.stack : String(error)}\n`);
      process.exitCode = 1;
      return [];
    }
  };
  return {
    bursts: await round('burst', () => bursts(arena, sizes.burst)),
    latenesses: await round('lateness', () => latenesses(arena, sizes.lateness)),
    races: await round('race', () => races(arena, sizes.race)),
    waitings: await round('memory', () => waitings(arena, sizes.waiting)),
  };
}

export default async function run(args: readonly string[]): Promise<void> {
  const quick = args.includes('--quick');
  const only = optionOf(args, '--only')?.split(',') ?? ROUNDS;
  const built = args.includes('--built');
  if (built)
    execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.ts')], {
      stdio: 'inherit',
    });
  const arena = await Arena.open(built);
  try {
    const results = await measure(arena, quick ? QUICK : FULL, only);
    const where = `${machine()}${quick ? ' (quick: the numbers prove that it runs, nothing else)' : ''}`;
    const text = `${where}\n\n${tableOf(results)}\n`;
    process.stdout.write(`\n${text}`);
    const out = optionOf(args, '--out');
    if (out !== undefined) {
      mkdirSync(out, { recursive: true });
      writeFileSync(join(out, 'head-to-head.md'), text);
      writeFileSync(join(out, 'head-to-head.svg'), pictureOf(results, where));
    }
  } finally {
    await arena.close();
  }
}
