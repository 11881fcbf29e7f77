// Round 3: TTLs that are extended at the very moment they expire. A deletion is wrongful if the API server had accepted
// the extension before: the object in the DELETED event has the new TTL and had not expired.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Arena, Round } from './arena.ts';
import { type Contender, TUNED } from './contenders.ts';
import { createJobs, nowSeconds, removeAll, setTtl } from './jobs.ts';
import { wallClock } from './observer.ts';
import { sumOf } from './usage.ts';

export interface Race {
  readonly contender: Contender['name'];
  readonly jobs: number;
  /** Extensions that the API server accepted. */
  readonly accepted: number;
  /** Of those, accepted so close to the deadline that a deletion could be in progress. */
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
/** Around the deadline, within the spread of answer times: extension and deletion are both in flight. */
const NEAR_MS = { from: -5, to: 20 };
/** Seconds: the deadline is an hour after the finish, the extension adds another. */
const EXTENDED = 7200;
/** Retried at half the rate each time the Jobs were not ready in time. */
const CREATED_PER_SECOND = [300, 150, 75, 40];
/** Time for the contender to start and process its list. */
const START_SECONDS = 6;

interface Racer {
  readonly name: string;
  readonly end: number;
  /** When it is extended, in milliseconds from its deadline. */
  readonly at: number;
}

/** Jobs that expire one second after the other, with enough time to start a contender. */
async function createRacers(round: Round, { seconds, perSecond }: RaceSizes): Promise<Racer[]> {
  const count = seconds * perSecond;
  for (const rate of CREATED_PER_SECOND) {
    const first = nowSeconds() + START_SECONDS + Math.ceil(count / rate);
    const finishedAt = first - 3600;
    const racers = Array.from({ length: count }, (_, i) => ({
      name: `race-${rate}-${i}`,
      end: (first + Math.floor(i / perSecond)) * 1000,
      // Spread evenly over the window, the same for every contender.
      at: -SPREAD_MS + (2 * SPREAD_MS * ((i * 7) % perSecond)) / perSecond,
    }));
    await createJobs(
      round.load,
      racers.map(({ name, end }) => ({ name, finishedAt, ttl: end / 1000 - finishedAt })),
    );
    if (wallClock() < (first - START_SECONDS + 1) * 1000) return racers;
    await removeAll(round.load);
  }
  throw new Error(`this machine is too slow: ${count} Jobs could not be made before they were due`);
}

async function race(round: Round, contender: Contender, sizes: RaceSizes): Promise<Race> {
  const racers = await createRacers(round, sizes);
  round.observer.deleted.clear();
  await round.start();
  const extended = new Map<string, number>();
  const extend = async ({ name, end, at }: Racer) => {
    await sleep(Math.max(0, end + at - wallClock()));
    if ((await setTtl(round.load, name, EXTENDED)) === 200) extended.set(name, wallClock() - end);
  };
  await Promise.all(racers.map(extend));
  await sleep(2000);
  const { requests } = await round.cost();
  const isNear = (after: number) => after >= NEAR_MS.from && after <= NEAR_MS.to;
  const wrongful = [...round.observer.deleted.values()].filter(({ ttl }) => ttl === EXTENDED);
  return {
    contender: contender.name,
    jobs: racers.length,
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
