// Random sequences of requests, valid and invalid, on the validated kinds and on random custom ones: the embedded
// server and the real one answer alike, step by step. SEED=… RUNS=… repeat or lengthen a round. A difference is shrunk
// and shown with both answers.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { sequences } from './differential/arbitrary.ts';
import { type Prepared, prepareDefinitions } from './differential/prepare.ts';
import { type Disagreement, firstDisagreement, runOn } from './differential/run.ts';
import { BUILTIN } from './differential/subjects.ts';
import type { Subject } from './differential/types.ts';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import { bedTarget } from './replay/targets.ts';

const SEED = Number(process.env['SEED'] ?? 1);
const RUNS = Number(process.env['RUNS'] ?? 2000);
const DEFINITIONS = Number(process.env['DEFINITIONS'] ?? 120);
// Concurrent, because the real server has more than one thread and waits for its store.
const WORKERS = 12;
// A slow machine must finish too: a round that is cut short has shown nothing, and fails.
const AT_MOST_MS = 700_000;

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

interface Checked {
  readonly runs: number;
  readonly interrupted: boolean;
  readonly disagreements: readonly string[];
}

async function checkSome(subjects: readonly Subject[], seed: number): Promise<Checked> {
  const agree = fc.asyncProperty(sequences(subjects.length), async ({ subject: at, steps }) => {
    const subject = subjects[at]!;
    const [theirs, ours] = await Promise.all([runOn(real, subject, steps), runOn(embedded, subject, steps)]);
    const disagreement = firstDisagreement(subject, theirs, ours);
    if (disagreement) throw new Disagree(disagreement);
  });
  const { failed, errorInstance, counterexamplePath, numRuns, interrupted } = await fc.check(agree, {
    seed,
    numRuns: Math.ceil(RUNS / WORKERS),
    interruptAfterTimeLimit: AT_MOST_MS,
  });
  const checked = { runs: numRuns, interrupted };
  if (!failed || (interrupted && errorInstance === null)) return { ...checked, disagreements: [] };
  if (!(errorInstance instanceof Disagree)) throw errorInstance;
  const where = `seed ${seed}, path ${counterexamplePath}`;
  return { ...checked, disagreements: [`${where}\n${shown(errorInstance.disagreement)}`] };
}

const shown = (disagreement: Disagreement): string => JSON.stringify(disagreement, null, 1);

test('random CRDs are accepted and refused alike', () => {
  expect(prepared.disagreements.map(shown), `seed ${SEED}`).toEqual([]);
});

test('random sequences are answered alike', { timeout: AT_MOST_MS + 60_000 }, async () => {
  const subjects = [...BUILTIN, ...prepared.subjects];
  const workers = Array.from({ length: WORKERS }, (_, i) => checkSome(subjects, SEED * WORKERS + i));
  const checked = await Promise.all(workers);
  const runs = checked.reduce((sum, one) => sum + one.runs, 0);
  const interrupted = checked.filter((one) => one.interrupted).length;
  console.log(
    `SEED=${SEED} RUNS=${RUNS}: ${runs} sequences on ${BUILTIN.length} built-in and ${prepared.subjects.length} custom kinds, ${interrupted} of ${WORKERS} workers interrupted`,
  );
  expect(checked.flatMap(({ disagreements }) => disagreements)).toEqual([]);
  expect(interrupted, 'workers that ran out of time').toBe(0);
  expect(runs).toBeGreaterThanOrEqual(RUNS);
  expect(embedded.unexpected).toEqual([]);
});
