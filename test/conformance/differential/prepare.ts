// Creates the same random CRDs on both servers and compares the answers. Accepted CRDs become subjects.

import type { JsonObject } from '@lapse/kube/api/json';
import { asker } from '../model/ask.ts';
import type { Target, WireResponse } from '../replay/types.ts';
import { definitionSubject, randomDefinition } from './crds.ts';
import { Normaliser, type Seen } from './normalise.ts';
import type { Disagreement } from './run.ts';
import type { Subject } from './types.ts';

const WIDTH = 12;
const CHANGED_DEFINITIONS = 12;
const CUSTOM = { custom: true, rewritten: false };
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export interface Prepared {
  readonly subjects: Subject[];
  readonly disagreements: Disagreement[];
  readonly answers: WireResponse[];
}

export async function prepareDefinitions(
  { seed, count }: { seed: number; count: number },
  embedded: Target,
  real: Target | undefined,
  recorded: readonly WireResponse[] = [],
): Promise<Prepared> {
  const prepared: Prepared = { subjects: [], disagreements: [], answers: [] };
  const making = Array.from({ length: count }, (_, i) =>
    randomDefinition(seed * 1000 + i, `r${i}.example.com`),
  );
  const answers: [WireResponse, WireResponse][] = [];
  await inParallel(count, async (i) => {
    const { definition } = making[i]!;
    answers[i] = await Promise.all([
      real ? define(real, definition) : recorded[i]!,
      define(embedded, definition),
    ]);
  });
  for (const [i, pair] of answers.entries()) {
    const made = making[i]!;
    prepared.answers.push(pair[0]);
    const [theirs, ours] = pair.map((answer) => new Normaliser('no space', CUSTOM).seen(answer)) as [
      Seen,
      Seen,
    ];
    if (theirs.status === 201 && ours.status === 201) prepared.subjects.push(made.subject);
    if (JSON.stringify(theirs) !== JSON.stringify(ours))
      prepared.disagreements.push({
        subject: 'definition',
        requests: [JSON.stringify(made.definition)],
        real: theirs,
        embedded: ours,
      });
  }
  const served = making.filter(({ subject }) => prepared.subjects.includes(subject));
  for (const subject of prepared.subjects)
    await Promise.all([embedded, ...(real ? [real] : [])].map((target) => untilServed(target, subject)));
  prepared.subjects.push(...served.slice(0, CHANGED_DEFINITIONS).map(definitionSubject));
  return prepared;
}

/** Several at a time, so that the slower server is busy. */
export async function inParallel(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

const define = (target: Target, definition: JsonObject): Promise<WireResponse> =>
  asker(target)('POST', DEFINITIONS, definition);

async function untilServed(target: Target, { collection }: Subject): Promise<void> {
  const ask = asker(target);
  for (let tries = 0; tries < 400; tries++) {
    if ((await ask('GET', collection.replace('{ns}', 'default'))).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${collection} is not served`);
}
