// Replays a case against a server that answers as recorded, and returns the mutations that the replayer misses.

import type { Entry } from '../replay/cases.ts';
import { runCase } from '../replay/runCase.ts';
import type { CaseResult } from '../replay/types.ts';
import { jumpingClock } from './clock.ts';
import type { Mutation } from './mutations.ts';
import { recordedTarget } from './target.ts';

const NS = 'w-recorded';

export const replayRecorded = ({ file, wireCase }: Entry, mutation?: Mutation): Promise<CaseResult> =>
  runCase(file, wireCase, recordedTarget(wireCase, NS, mutation), { ns: NS, clock: jumpingClock() });

/** A message if the replayer did not fail at the step with the changed answer. */
export async function missedMutation(entry: Entry, mutation: Mutation): Promise<string | undefined> {
  const result = await replayRecorded(entry, mutation);
  if (result.kind === 'failed' && result.difference.startsWith(`${mutation.where}:`)) return undefined;
  return `${entry.title}: ${mutation.where}: ${mutation.what} → ${JSON.stringify(result)}`;
}
