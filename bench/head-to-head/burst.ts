// Round 1: many Jobs that are long overdue. How fast they are deleted, and the cost of each deletion.

import type { Arena, Round } from './arena.ts';
import { type Contender, INCUMBENT, raw, TUNED } from './contenders.ts';
import { createJobs, nowSeconds } from './jobs.ts';
import { sumOf } from './usage.ts';

export interface Burst {
  readonly contender: Contender['name'];
  readonly deleted: number;
  /** Deletions per second, from the first to the last. */
  readonly rate: number;
  /** All requests about single Jobs. */
  readonly requestsPerDeletion: number;
  /** Milliseconds of CPU per deletion. */
  readonly controllerCpu: number;
  readonly serverCpu: number;
}

export interface BurstSizes {
  readonly jobs: number;
  /** kube-controller-manager with its defaults deletes ten per second, so it is measured for this long only. */
  readonly windowMs: number;
}

const PREFIX = 'burst';

async function burst(round: Round, contender: Contender, count: number, windowMs: number): Promise<Burst> {
  const finishedAt = nowSeconds() - 3600;
  const plans = Array.from({ length: count }, (_, i) => ({ name: `${PREFIX}-${i}`, ttl: 60, finishedAt }));
  await createJobs(round.load, plans);
  await round.start();
  const { observer } = round;
  const isDone = await observer.until(() => observer.deleted.size >= count, windowMs);
  const { controller, server, requests } = await round.cost();
  const times = [...observer.deleted.values()].map(({ at }) => at);
  const deleted = times.length;
  if (deleted < 2) throw new Error(`${contender.name} deleted ${deleted} of ${count}:\n${round.tail()}`);
  if (!isDone && contender !== INCUMBENT)
    throw new Error(`${contender.name} deleted only ${deleted} of ${count}:\n${round.tail()}`);
  const spanMs = times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b));
  return {
    contender: contender.name,
    deleted,
    rate: ((deleted - 1) * 1000) / spanMs,
    requestsPerDeletion: sumOf(requests, /^(GET|DELETE) /) / deleted,
    controllerCpu: (controller * 1000) / deleted,
    serverCpu: (server * 1000) / deleted,
  };
}

export async function bursts(arena: Arena, { jobs, windowMs }: BurstSizes): Promise<Burst[]> {
  const results: Burst[] = [];
  for (const contender of [INCUMBENT, TUNED, arena.lapse, raw(PREFIX, jobs)]) {
    const isSlow = contender === INCUMBENT;
    // More than it can delete in its window.
    const count = isSlow ? Math.min(jobs, Math.ceil((windowMs / 1000) * 40)) : jobs;
    const limit = isSlow ? windowMs : 300_000;
    results.push(await arena.round(contender, (round) => burst(round, contender, count, limit)));
  }
  return results;
}
