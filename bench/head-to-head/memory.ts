// Round 4: many waiting Jobs. The cost to cache them all, and to keep them cached. One Job is overdue: when it is
// deleted, the contender has processed its whole list.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Arena, Round } from './arena.ts';
import { type Contender, INCUMBENT } from './contenders.ts';
import { createJob, createJobs, nowSeconds } from './jobs.ts';
import { cpuOf, memoryOf } from './usage.ts';

export interface Waiting {
  readonly contender: Contender['name'];
  readonly jobs: number;
  /** Seconds from the start of the process to the deletion of the one that is due. */
  readonly synced: number;
  /** Seconds of CPU until then. */
  readonly cpuToSync: number;
  /** Bytes, a while later; and the peak. */
  readonly rss: number;
  readonly peak: number;
  /** Share of one core while nothing happens. */
  readonly idle: number;
}

export interface WaitingSizes {
  readonly jobs: number;
  readonly idleMs: number;
}

const LIMIT_MS = 120_000;

async function waiting(round: Round, contender: Contender, { jobs, idleMs }: WaitingSizes): Promise<Waiting> {
  const sentinel = `due-${contender.name.replaceAll(/\W+/g, '-')}`;
  await createJob(round.load, { name: sentinel, ttl: 1, finishedAt: nowSeconds() - 60 });
  const { pid, startedAt } = await round.start();
  const { observer } = round;
  if (!(await observer.until(() => observer.deleted.has(sentinel), LIMIT_MS)))
    throw new Error(`${contender.name} never deleted the Job that was due:\n${round.tail()}`);
  const cpuToSync = cpuOf(pid);
  const synced = (observer.deleted.get(sentinel)!.at - startedAt) / 1000;
  await sleep(idleMs);
  const settled = cpuOf(pid);
  await sleep(idleMs);
  const idle = ((cpuOf(pid) - settled) * 1000) / idleMs;
  return { contender: contender.name, jobs, synced, cpuToSync, ...memoryOf(pid), idle };
}

export async function waitings(arena: Arena, sizes: WaitingSizes): Promise<Waiting[]> {
  const finishedAt = nowSeconds() - 60;
  const plans = Array.from({ length: sizes.jobs }, (_, i) => ({
    name: `waiting-${i}`,
    ttl: 86_400 + (i % 3600),
    finishedAt,
  }));
  await createJobs(arena.load, plans);
  const results: Waiting[] = [];
  for (const contender of [INCUMBENT, arena.lapse])
    results.push(await arena.round(contender, (round) => waiting(round, contender, sizes), true));
  // Nothing is removed: this is the last round, and deleting so many at once takes longer than the server allows.
  return results;
}
