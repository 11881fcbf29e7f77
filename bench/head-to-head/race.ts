// Round 3: TTLs that are extended at the very moment they end. Wrongful is a deletion of a Job whose extension the API
// server had accepted: the object in the DELETED event carries the new TTL and was not over.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Arena, Round } from './arena.ts';
import { type Contender, TUNED } from './contenders.ts';
import { createJobs, nowSeconds, setTtl } from './jobs.ts';
import { wallClock } from './observer.ts';
import { sumOf } from './usage.ts';

export interface Race {
  readonly contender: Contender['name'];
  readonly jobs: number;
  /** Extensions that the API server accepted. */
  readonly accepted: number;
  /** Of those, accepted so near to the end that a deletion could be under way. */
  readonly near: number;
  /** Deletions that the API server refused because the object had changed. */
  readonly refused: number;
  readonly wrongful: number;
}

export interface RaceSizes {
  readonly seconds: number;
  readonly perSecond: number;
}

const SPREAD_MS = 25;
/** Around the end, as the spread of answers is: the extension and the deletion are both on their way. */
const NEAR_MS = { from: -5, to: 20 };
const EXTENDED = 3600;
/** Two writes per Job must be done before the first is over. */
const CREATED_PER_SECOND = 250;

async function race(round: Round, contender: Contender, { seconds, perSecond }: RaceSizes): Promise<Race> {
  const count = seconds * perSecond;
  const first = nowSeconds() + 6 + Math.ceil(count / CREATED_PER_SECOND);
  const finishedAt = first - 3600;
  const jobs = Array.from({ length: count }, (_, i) => ({
    name: `race-${i}`,
    end: (first + Math.floor(i / perSecond)) * 1000,
    // Spread evenly over the window, the same for everybody.
    at: -SPREAD_MS + (2 * SPREAD_MS * ((i * 7) % perSecond)) / perSecond,
  }));
  await createJobs(
    round.load,
    jobs.map(({ name, end }) => ({ name, finishedAt, ttl: end / 1000 - finishedAt })),
  );
  await round.start();
  await sleep(Math.max(0, first * 1000 - 1000 - wallClock()));
  if (round.observer.deleted.size > 0) throw new Error('the race began before its contender was ready');
  const extended = new Map<string, number>();
  const extend = async ({ name, end, at }: (typeof jobs)[number]) => {
    await sleep(Math.max(0, end + at - wallClock()));
    if ((await setTtl(round.load, name, EXTENDED * 2)) === 200) extended.set(name, wallClock() - end);
  };
  await Promise.all(jobs.map(extend));
  await sleep(2000);
  const { requests } = await round.cost();
  const isNear = (after: number) => after >= NEAR_MS.from && after <= NEAR_MS.to;
  const wrongful = [...round.observer.deleted.values()].filter(({ ttl }) => ttl === EXTENDED * 2);
  return {
    contender: contender.name,
    jobs: count,
    accepted: extended.size,
    near: [...extended.values()].filter(isNear).length,
    refused: sumOf(requests, /^DELETE 409/),
    wrongful: wrongful.length,
  };
}

export async function races(arena: Arena, sizes: RaceSizes): Promise<Race[]> {
  const results: Race[] = [];
  for (const contender of [TUNED, arena.lapse])
    results.push(await arena.round(contender, (round) => race(round, contender, sizes)));
  return results;
}
