// Compares the responses of the embedded server and kube-apiserver to random objects: the same status, the same
// causes, the same object. Intended differences are listed.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Embedded, startEmbedded } from '../../../../test/conformance/embeddedTarget.ts';
import { bedTarget } from '../../../../test/conformance/replay/targets.ts';
import { type Bed, startBed } from '../../../../test/kube/bed/bed.ts';
import {
  baseRequest,
  FUZZ_KINDS,
  Fuzzer,
  type FuzzRequest,
  fuzzRequest,
  INCOMPARABLE_CAUSES,
  INCOMPARABLE_REQUESTS,
} from './fuzz.testkit.ts';
import { type ProbeClient, play, type Step, softened } from './recorded.testkit.ts';

const REQUESTS = 300;

let bed: Bed;
let real: ReturnType<typeof bedTarget>;
let embedded: Embedded;

beforeAll(async () => {
  bed = await startBed();
  real = bedTarget(bed);
  embedded = await startEmbedded();
});
afterAll(async () => {
  await real?.close();
  await embedded?.close();
  await bed?.stop();
});

const step = ({ method, path, type, body }: FuzzRequest): Step => ({
  method,
  path,
  type,
  body,
  status: 0,
  answer: null,
});

/** The part of two responses that must be equal. */
function essence({ status, answer }: Step): Json {
  const object = answer as JsonObject;
  if (status < 300) return { status, object };
  const details = (object['details'] ?? {}) as { causes?: { field: string; message: string }[] };
  const causes = (details.causes ?? [])
    .map(({ field, message }) => `${field}: ${message}`)
    .filter((cause) => !INCOMPARABLE_CAUSES.some((form) => form.test(cause)))
    .sort();
  // Without its incomparable causes, the other server may have accepted the request.
  return details.causes && causes.length === 0 ? 'nothing to compare' : { status, causes };
}

test.each(FUZZ_KINDS.map((kind) => [kind.kind, kind] as const))('%s', async (name, kind) => {
  const clients: ProbeClient[] = [
    { send: real.request, token: bed.adminToken },
    { send: embedded.request, token: embedded.adminToken! },
  ];
  const fuzzer = new Fuzzer(2 * name.length + 1);
  const requests = Array.from({ length: REQUESTS }, () => fuzzRequest(kind, fuzzer)).filter(
    ({ body }) => !INCOMPARABLE_REQUESTS.some((form) => form.test(JSON.stringify(body))),
  );
  const steps = [baseRequest(kind), ...requests].map(step);
  const answers = await Promise.all(
    clients.map((client) => play(client, { name, steps }, `fuzz-${name.toLowerCase()}`)),
  );
  const [theirs, ours] = answers.map((all) => softened(all) as unknown as Step[]);
  const differing = theirs!.flatMap((answer, i) => {
    const [a, b] = [essence(answer), essence(ours![i]!)];
    if (a === 'nothing to compare' || b === 'nothing to compare') return [];
    return JSON.stringify(a) === JSON.stringify(b)
      ? []
      : [{ request: requests[i - 1], real: a, embedded: b }];
  });
  expect(differing).toEqual([]);
});
