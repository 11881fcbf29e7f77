// Round 2: how long after its end a Job goes. Times of Kubernetes have whole seconds, so ends by timer fall on whole
// seconds; ends every 100 ms are Jobs with TTL 0 that finish every 100 ms.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Arena, Round } from './arena.ts';
import { type Contender, INCUMBENT, TUNED } from './contenders.ts';
import { createJobs, finishJob, nowSeconds } from './jobs.ts';
import { wallClock } from './observer.ts';
import { type Spread, spreadOf } from './statistics.ts';

export interface Lateness {
  readonly contender: Contender['name'];
  /** Milliseconds from the write of the finish (TTL 0), one every 100 ms. */
  readonly steady: Spread;
  /** Milliseconds from the deadline, ten per second. */
  readonly timers: Spread;
  /** Milliseconds from the deadline, all in one second. */
  readonly crowd: Spread;
}

export interface LatenessSizes {
  readonly steady: number;
  readonly timerSeconds: number;
  readonly crowd: number;
}

const EVERY_MS = 100;
const PER_SECOND = 10;
/** For connections, compilers and caches on all sides. */
const WARM_UP = 20;
const LIMIT_MS = 20_000;
/** Time for the contender to start and look at its list. */
const START_SECONDS = 5;

/** Jobs that finish one after the other; measured from when the write that finished them was sent. */
async function steady(round: Round, count: number): Promise<Spread> {
  const names = Array.from({ length: count + WARM_UP }, (_, i) => `steady-${i}`);
  await createJobs(
    round.load,
    names.map((name) => ({ name, ttl: 0 })),
  );
  await sleep(1000);
  const finished = new Map<string, number>();
  const writes: Promise<void>[] = [];
  const begin = performance.now();
  for (const [i, name] of names.entries()) {
    await sleep(Math.max(0, begin + i * EVERY_MS - performance.now()));
    finished.set(name, wallClock());
    writes.push(finishJob(round.load, { name }));
  }
  await Promise.all(writes);
  const counted = names.slice(WARM_UP);
  return late(round, counted, (name) => finished.get(name)!);
}

/** Jobs whose time is over at whole seconds. */
async function atSeconds(round: Round, prefix: string, endsAt: readonly number[]): Promise<Spread> {
  const ends = new Map(endsAt.map((second, i) => [`${prefix}-${i}`, second * 1000]));
  const finishedAt = nowSeconds() - 60;
  const plans = [...ends].map(([name, end]) => ({ name, finishedAt, ttl: end / 1000 - finishedAt }));
  await createJobs(round.load, plans);
  const last = Math.max(...ends.values());
  if (wallClock() > Math.min(...ends.values())) throw new Error('the Jobs were due before they were made');
  await sleep(Math.max(0, last - wallClock()));
  return late(round, [...ends.keys()], (name) => ends.get(name)!);
}

async function late(
  round: Round,
  names: readonly string[],
  dueAt: (name: string) => number,
): Promise<Spread> {
  const { observer } = round;
  await observer.until(() => names.every((name) => observer.deleted.has(name)), LIMIT_MS);
  const values = names.flatMap((name) => {
    const deleted = observer.deleted.get(name);
    return deleted === undefined ? [] : [Math.max(0, deleted.at - dueAt(name))];
  });
  return spreadOf(values, names.length);
}

async function lateness(round: Round, contender: Contender, sizes: LatenessSizes): Promise<Lateness> {
  await round.start();
  await sleep(START_SECONDS * 1000);
  const everyTenth = await steady(round, sizes.steady);
  const count = sizes.timerSeconds * PER_SECOND;
  const first = nowSeconds() + 2 + Math.ceil(count / 200);
  const timers = await atSeconds(
    round,
    'timer',
    Array.from({ length: count }, (_, i) => first + Math.floor(i / PER_SECOND)),
  );
  const second = nowSeconds() + 3 + Math.ceil(sizes.crowd / 200);
  const crowd = await atSeconds(
    round,
    'crowd',
    Array.from({ length: sizes.crowd }, () => second),
  );
  return { contender: contender.name, steady: everyTenth, timers, crowd };
}

export async function latenesses(arena: Arena, sizes: LatenessSizes): Promise<Lateness[]> {
  const results: Lateness[] = [];
  for (const contender of [INCUMBENT, TUNED, arena.lapse])
    results.push(await arena.round(contender, (round) => lateness(round, contender, sizes)));
  return results;
}
