// Replays a case against a server that answers as recorded, and returns the mutations that the replayer misses.

import type { Entry } from '../replay/cases.ts';
import { runCase } from '../replay/runCase.ts';
import type { Verdict } from '../replay/types.ts';
import { jumpingClock } from './clock.ts';
import type { Mutation } from './mutations.ts';
import { byHeartTarget } from './target.ts';

const NS = 'w-by-heart';

export const replayByHeart = ({ file, wireCase }: Entry, mutation?: Mutation): Promise<Verdict> =>
  runCase(file, wireCase, byHeartTarget(wireCase, NS, mutation), { ns: NS, clock: jumpingClock() });

/** A message if the replayer did not fail at the step with the changed answer. */
export async function unnoticed(entry: Entry, mutation: Mutation): Promise<string | undefined> {
  const verdict = await replayByHeart(entry, mutation);
  if (verdict.kind === 'failed' && verdict.difference.startsWith(`${mutation.where}:`)) return undefined;
  return `${entry.title}: ${mutation.where}: ${mutation.what} → ${JSON.stringify(verdict)}`;
}
