// Server-side apply, compared with the real server: random histories of applies, updates and patches lead to the same
// objects with the same managers, step by step.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { history } from './apply/histories.ts';
import { createNamespace, prepare, runHistory } from './apply/run.ts';
import { SUBJECTS } from './apply/subjects.ts';
import { type Embedded, startEmbedded } from './embeddedTarget.ts';
import type { Ask } from './model/ask.ts';
import { bedTarget } from './replay/targets.ts';

const HISTORIES = 60;
const LENGTH = 12;

let bed: Bed;
let real: ReturnType<typeof bedTarget>;
let embedded: Embedded;
let asks: Ask[];

beforeAll(async () => {
  bed = await startBed();
  real = bedTarget(bed);
  embedded = await startEmbedded();
  asks = await Promise.all([prepare(real), prepare(embedded)]);
});
afterAll(async () => {
  await real?.close();
  await embedded?.close();
  await bed?.stop();
});

test.each(SUBJECTS.map((subject) => [subject.name, subject] as const))('%s', async (_, subject) => {
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const writes = history(subject, seed, LENGTH);
    const namespace = `apply-${subject.kind.toLowerCase()}-${seed}`;
    const [theirs, ours] = await Promise.all(
      asks.map(async (ask) => {
        await createNamespace(ask, namespace);
        return runHistory(ask, subject, namespace, writes);
      }),
    );
    const at = theirs!.findIndex((answer, i) => JSON.stringify(answer) !== JSON.stringify(ours![i]));
    if (at < 0) continue;
    const context = `seed ${seed}, step ${at}: ${JSON.stringify(writes.slice(0, at + 1))}`;
    expect(ours![at], context).toEqual(theirs![at]);
  }
});
