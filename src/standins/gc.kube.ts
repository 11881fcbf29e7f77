// The same object graphs on a real cluster with its garbage collector and on the embedded server with the stand-in: the
// same objects are left, with the same owners and finalizers.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '#base/clock';
import { seededRandom, systemRandom } from '#base/random';
import { type Client, createClient } from '#client/client';
import { bearer, fixedCredentials } from '#client/credentials';
import { type UndiciTransport, undiciTransport } from '#client/undici';
import { world } from '#runtime/world.testkit';
import { type Bed, startBed } from '../../test/kube/bed/bed.ts';
import { createOwnerGc } from './ownerGc/controller.ts';
import { Bench, type Graph } from './ownerGc/graphs.testkit.ts';
import { randomGraph } from './ownerGc/random.testkit.ts';
import { SHAPES } from './ownerGc/shapes.testkit.ts';

const SEED = Number(process.env.LAPSE_SEED ?? 1);
const random = seededRandom(SEED);
const shapes = Object.entries(SHAPES).map(([name, shape]) => ({ name, ...shape }));
const randoms = Array.from({ length: 300 }, () => randomGraph(random));
const graphs: Graph[] = [...shapes, ...randoms];

let bed: Bed;
let transport: UndiciTransport;
let expected: string[][];
let actual: string[][];

const sleep = (length: number) => new Promise<void>((resolve) => setTimeout(resolve, length));

async function embedded(): Promise<string[][]> {
  const made = await world({ controllers: [createOwnerGc()], enforceRights: true });
  const bench = new Bench(made.user);
  made.manager.start();
  await bench.prepare(() => made.pass(100));
  await bench.build(graphs);
  await made.pass(60_000);
  await bench.delete(graphs);
  await made.pass(120_000);
  const left = await bench.survivors(graphs.length);
  await made.close();
  return left;
}

/** The collector looks for new kinds every 30 s: until it has seen ours, nothing custom goes. */
async function untilCustomKindsAreCollected(client: Client): Promise<void> {
  const probe = new Bench(client);
  const graph: Graph[] = [{ objects: ['widget:w<ghost', 'gadget:g', 'widget:v<g'], deletes: ['g'] }];
  await probe.build(graph);
  await probe.delete(graph);
  while ((await probe.survivors(1))[0]!.length > 0) await sleep(500);
}

async function real(client: Client): Promise<string[][]> {
  const bench = new Bench(client);
  await bench.prepare(() => sleep(200));
  await untilCustomKindsAreCollected(client);
  await bench.build(graphs);
  // What owners that never were leave behind must be gone before the deletions, as in the embedded world.
  await sleep(4000);
  await bench.delete(graphs);
  const settled = JSON.stringify(expected);
  for (let look = 0; look < 60; look++) {
    await sleep(500);
    if (JSON.stringify(await bench.survivors(graphs.length)) === settled) break;
  }
  // Equal once is not enough: it must stay so.
  await sleep(3000);
  return bench.survivors(graphs.length);
}

beforeAll(async () => {
  expected = await embedded();
  bed = await startBed({ controllers: ['garbage-collector-controller'] });
  transport = undiciTransport({
    server: bed.url,
    clock: realClock,
    tls: { ca: readFileSync(bed.caFile, 'utf8') },
  });
  const credentials = fixedCredentials({ headers: bearer(bed.adminToken) });
  actual = await real(createClient({ transport, clock: realClock, random: systemRandom, credentials }));
});
afterAll(async () => {
  await transport?.close();
  await bed?.stop();
});

describe('the real collector leaves what we say it leaves', () => {
  test.each(shapes.map(({ name }, i) => ({ name, i })))('$name', ({ i }) =>
    expect(actual[i]).toEqual(shapes[i]!.left),
  );
});

test('random graphs end the same way in both', () => {
  const differences = randoms
    .map((graph, n) => ({ graph, n, at: shapes.length + n }))
    .filter(({ at }) => JSON.stringify(actual[at]) !== JSON.stringify(expected[at]))
    .map(({ graph, n, at }) => ({ n, ...graph, real: actual[at], embedded: expected[at] }));
  expect({ seed: SEED, differences }).toEqual({ seed: SEED, differences: [] });
});
