// Deletes the same object graphs in a real cluster and on the embedded server with the simulated garbage collector. The
// same objects must remain, with the same owners and finalizers.

import { seededRandom } from '@lapse/base/random';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { world } from '@lapse/runtime/world.testkit';
import { beforeAll, describe, expect, test } from 'vitest';
import { realCluster, sleep } from './cluster.testkit.ts';
import { createOwnerGc } from './ownerGc/controller.ts';
import { Bench, type Graph } from './ownerGc/graphs.testkit.ts';
import { randomGraph } from './ownerGc/random.testkit.ts';
import { SHAPES } from './ownerGc/shapes.testkit.ts';

const SEED = Number(process.env.LAPSE_SEED ?? 1);
const random = seededRandom(SEED);
const shapes = Object.entries(SHAPES).map(([name, shape]) => ({ name, ...shape }));
const randoms = Array.from({ length: 300 }, () => randomGraph(random));
const graphs: Graph[] = [...shapes, ...randoms];

const cluster = realCluster('garbage-collector-controller');
let expected: string[][];
let actual: string[][];

async function embedded(): Promise<string[][]> {
  const made = await world({ controllers: [createOwnerGc()], enforceRights: true });
  const bench = new Bench(made.user);
  await bench.prepare(() => made.pass(100));
  // The in-process collector would run before the graph is complete.
  await bench.build(graphs);
  made.manager.start();
  await made.pass(60_000);
  await bench.delete(graphs);
  await made.pass(120_000);
  const left = await bench.survivors(graphs.length);
  await made.close();
  return left;
}

/** The real collector discovers new kinds every 30 s. Until then it deletes no custom objects. */
async function untilCustomKindsAreCollected(): Promise<void> {
  const probe = new Bench(cluster.client, 1_000_000);
  const graph: Graph[] = [{ objects: ['widget:w<ghost', 'gadget:g', 'widget:v<g'], deletes: ['g'] }];
  await probe.build(graph);
  await probe.delete(graph);
  while ((await probe.survivors(1))[0]!.length > 0) await sleep(500);
}

async function real(first: number, played: readonly Graph[]): Promise<string[][]> {
  const bench = new Bench(cluster.client, first);
  await bench.build(played);
  // Objects with absent owners must be collected before the deletions start, as on the embedded server.
  await bench.atRest(played.length, () => sleep(500));
  await bench.delete(played);
  return bench.atRest(played.length, () => sleep(500));
}

const text = (left: readonly string[] | undefined): string => JSON.stringify(left);

beforeAll(async () => {
  expected = await embedded();
  await new Bench(cluster.client).prepare(() => sleep(200));
  await untilCustomKindsAreCollected();
  actual = await real(0, graphs);
});

describe('the real garbage collector', () => {
  test.each(shapes.map(({ name }, i) => ({ name, i })))('$name', ({ i }) =>
    expect(actual[i]).toEqual(shapes[i]!.left),
  );
});

// The real collector has twenty workers. Whether it evaluates a non-blocking dependent before or after it releases the
// owner is random. A graph with a different result is repeated many times; one result must equal the simulated one. If a
// finalizer still holds the owner, the race only decides whether the reference to it is removed. The more owners a
// dependent has, the later the real collector is, because it reads each owner.
const REPLAYS = 16;
const LINE = /^((?:other\/)?(?:\w+:)?([\w-]+))(?:<(\S+))?(.*)$/;

/** The graph without non-blocking references to terminating owners. */
function withoutRaces(left: readonly string[]): string[] {
  const lines = left.map((line) => LINE.exec(line)!);
  const ending = new Set(lines.filter(([line]) => line.endsWith(' ending')).map(([, , name]) => name));
  return lines.map(([, place, , owners = '', rest]) => {
    const kept = owners.split(',').filter((owner) => owner !== '' && !ending.has(owner));
    return `${place}${kept.length > 0 ? `<${kept.join()}` : ''}${rest}`;
  });
}

test('random graphs have a result that is possible in the real cluster', async () => {
  const other = randoms
    .map((graph, n) => ({ graph, n, ours: expected[shapes.length + n]!, real: actual[shapes.length + n]! }))
    .filter(({ ours, real: theirs }) => text(ours) !== text(theirs));
  const again = other.flatMap(({ graph }) => Array.from({ length: REPLAYS }, () => graph));
  const ends = again.length === 0 ? [] : await real(graphs.length, again);
  const differences = other
    .map((one, i) => ({ ...one, ends: ends.slice(i * REPLAYS, (i + 1) * REPLAYS) }))
    .filter((one) => !one.ends.some((end) => text(withoutRaces(end)) === text(withoutRaces(one.ours))))
    .map((one) => ({ ...one, ends: [...new Set(one.ends.map(text))] }));
  expect({ seed: SEED, differences }).toEqual({ seed: SEED, differences: [] });
  expect(other.length, 'most graphs have one end').toBeLessThan(randoms.length / 20);
});

// Last test: it deletes the CRD of the custom kind.
test('dependents of custom objects are deleted with the CRD', async () => {
  const bench = new Bench(cluster.client, 2_000_000);
  await bench.build([{ objects: ['widget:a', 'b<a', 'secret:c<a', 'd<b', 'e'], deletes: [] }]);
  await cluster.client.delete(CustomResourceDefinition, { name: 'widgets.gc.test' });
  await expect.poll(() => bench.survivors(1), { timeout: 30_000 }).toEqual([['e']]);
});
