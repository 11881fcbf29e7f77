// Random sequences of requests, good and bad, on the validated kinds and on random custom ones: the embedded server and
// the real one answer alike, step by step. SEED=… RUNS=… repeat or lengthen a round; what differs is shrunk and shown
// with both answers.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { sequences } from './differential/arbitrary.ts';
import { type Disagreement, firstDisagreement, playOn } from './differential/play.ts';
import { type Prepared, prepareDefinitions } from './differential/prepare.ts';
import { BUILTIN } from './differential/subjects.ts';
import type { Subject } from './differential/types.ts';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { bedTarget } from './replay/targets.ts';

const SEED = Number(process.env['SEED'] ?? 1);
const RUNS = Number(process.env['RUNS'] ?? 2000);
const DEFINITIONS = Number(process.env['DEFINITIONS'] ?? 120);
// Side by side: the real server has more than one thread, and waits for its store.
const WORKERS = 12;
const AT_MOST_MS = 300_000;

let bed: Bed;
let real: ReturnType<typeof bedTarget>;
let embedded: Embedded;
let prepared: Prepared;

beforeAll(async () => {
  bed = await startBed();
  real = bedTarget(bed);
  embedded = await startEmbedded();
  prepared = await prepareDefinitions({ seed: SEED, count: DEFINITIONS }, embedded, real);
});
afterAll(async () => {
  await real?.close();
  await embedded?.close();
  await bed?.stop();
});

class Disagree extends Error {
  readonly disagreement: Disagreement;
  constructor(disagreement: Disagreement) {
    super('the servers disagree');
    this.disagreement = disagreement;
  }
}

async function checkSome(subjects: readonly Subject[], seed: number): Promise<string[]> {
  const agree = fc.asyncProperty(sequences(subjects.length), async ({ subject: at, steps }) => {
    const subject = subjects[at]!;
    const [theirs, ours] = await Promise.all([
      playOn(real, subject, steps),
      playOn(embedded, subject, steps),
    ]);
    const disagreement = firstDisagreement(subject, theirs, ours);
    if (disagreement) throw new Disagree(disagreement);
  });
  const numRuns = Math.ceil(RUNS / WORKERS);
  const { failed, errorInstance, counterexamplePath } = await fc.check(agree, {
    seed,
    numRuns,
    interruptAfterTimeLimit: AT_MOST_MS,
  });
  if (!failed) return [];
  if (!(errorInstance instanceof Disagree)) throw errorInstance;
  return [`seed ${seed}, path ${counterexamplePath}\n${shown(errorInstance.disagreement)}`];
}

const shown = (disagreement: Disagreement): string => JSON.stringify(disagreement, null, 1);

test('random definitions are judged alike', () => {
  expect(prepared.disagreements.map(shown), `seed ${SEED}`).toEqual([]);
});

test('random sequences are answered alike', async () => {
  console.log(`SEED=${SEED} RUNS=${RUNS}, ${prepared.subjects.length} custom kinds`);
  const subjects = [...BUILTIN, ...prepared.subjects];
  const workers = Array.from({ length: WORKERS }, (_, i) => checkSome(subjects, SEED * WORKERS + i));
  expect((await Promise.all(workers)).flat()).toEqual([]);
  expect(embedded.unexpected).toEqual([]);
});
