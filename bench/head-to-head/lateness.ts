// Round 2: how long after its deadline a Job is deleted. Times in Kubernetes have whole seconds, so deadlines by timer
// fall on whole seconds. Deadlines every 100 ms are Jobs with TTL 0 that finish every 100 ms.

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
/** Warms up connections, compilers and caches on all sides. */
const WARM_UP = 20;
const LIMIT_MS = 20_000;
/** Time for the contender to start and process its list. */
const START_SECONDS = 5;

/** Jobs that finish one after the other; measured from the time the finishing write was sent. */
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

/** Retried at half the rate each time the Jobs were not ready in time. */
const CREATED_PER_SECOND = [300, 150, 75, 40];

/** Jobs that expire at whole seconds: `perSecond` at each, starting late enough to create them. */
async function atSeconds(round: Round, prefix: string, count: number, perSecond: number): Promise<Spread> {
  for (const rate of CREATED_PER_SECOND) {
    const first = nowSeconds() + 3 + Math.ceil(count / rate);
    const ends = new Map(
      Array.from({ length: count }, (_, i) => [
        `${prefix}-${rate}-${i}`,
        (first + Math.floor(i / perSecond)) * 1000,
      ]),
    );
    const finishedAt = nowSeconds() - 60;
    await createJobs(
      round.load,
      [...ends].map(([name, end]) => ({ name, finishedAt, ttl: end / 1000 - finishedAt })),
    );
    if (wallClock() > first * 1000) continue;
    await sleep(Math.max(0, Math.max(...ends.values()) - wallClock()));
    return late(round, [...ends.keys()], (name) => ends.get(name)!);
  }
  throw new Error(`this machine is too slow: ${count} Jobs could not be made before they were due`);
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
  const timers = await atSeconds(round, 'timer', sizes.timerSeconds * PER_SECOND, PER_SECOND);
  const crowd = await atSeconds(round, 'crowd', sizes.crowd, sizes.crowd);
  return { contender: contender.name, steady: everyTenth, timers, crowd };
}

export async function latenesses(arena: Arena, sizes: LatenessSizes): Promise<Lateness[]> {
  const results: Lateness[] = [];
  for (const contender of [INCUMBENT, TUNED, arena.lapse])
    results.push(await arena.round(contender, (round) => lateness(round, contender, sizes)));
  return results;
}
