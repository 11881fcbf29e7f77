// Compares the planned cascade with the real garbage collector: random graphs, of each of which up to three objects are
// deleted at once, with any propagation policy.

import { instant } from '@lapse/base/instant';
import { type Random, seededRandom } from '@lapse/base/random';
import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import type { Propagation } from '@lapse/kube/client/delete';
import { realCluster, sleep } from '@lapse/simulation/controllers/cluster.testkit';
import { Bench, type Graph, KINDS } from '@lapse/simulation/controllers/ownerGc/graphs.testkit';
import { randomGraph } from '@lapse/simulation/controllers/ownerGc/random.testkit';
import { nameOf, type ObjectName } from 'lapse/controllers/forecaster';
import { Cascade } from 'lapse/forecast/cascade/cascade';
import { readOwnership } from 'lapse/forecast/cascade/read';
import { createSnapshot, readingFrom } from 'lapse/forecast/snapshot';
import { expect, test } from 'vitest';

const SEED = Number(process.env.LAPSE_SEED ?? 1);
const GRAPHS = Number(process.env.GRAPHS ?? 250);
const MANNERS = ['', ':Foreground', ':Foreground', ':Orphan'];
const cluster = realCluster('garbage-collector-controller');

/** The garbage collector takes half a minute to discover new kinds, so only built-in ones are used. */
function drawGraph(random: Random): Graph {
  const { objects } = randomGraph(random);
  const builtIn = objects.map((line) => line.replace('widget:', 'secret:').replace('gadget:', ''));
  const names = builtIn.map((line) => /^(?:other\/)?(?:secret:)?(\w)/.exec(line)![1]!);
  const deletes = names
    .filter(() => random.next() < 0.4)
    .slice(0, 3)
    .map((name) => `${name}${MANNERS[Math.floor(random.next() * MANNERS.length)]}`);
  return { objects: builtIn, deletes };
}

async function existing(client: Client): Promise<Map<string, ObjectName>> {
  const found = new Map<string, ObjectName>();
  for (const kind of Object.values(KINDS))
    for (const object of (await client.list(metadataOf(kind))).items)
      found.set(object.metadata.name!, nameOf(kind as Kind, object));
  return found;
}

type Fate = 'deleted' | 'uncertain';

/** By name: the forecast for all objects that are not forecast to be kept. */
async function predicted(client: Client, graphs: readonly Graph[]): Promise<Map<string, Fate>> {
  const served = await client.discovery.all();
  const ownership = await readOwnership({
    snapshot: createSnapshot(served, readingFrom(client)),
    endingNamespaces: new Set(),
    onUnread: (what) => expect(what).toBe('read'),
  });
  const objects = await existing(client);
  const fates = new Map<string, Fate>();
  graphs.forEach(({ deletes }, graph) => {
    const deletions = deletes.flatMap((text) => {
      const [name, propagation = 'Background'] = text.split(':') as [string, Propagation?];
      const object = objects.get(`g${graph}-${name}`);
      return object === undefined ? [] : [{ object, at: instant(0), propagation }];
    });
    for (const { object } of deletions) fates.set(object.name, 'deleted');
    for (const { dependents } of new Cascade(ownership).deleteTogether(deletions))
      for (const { object, uncertain } of dependents)
        fates.set(object.name, uncertain === true ? 'uncertain' : 'deleted');
  });
  return fates;
}

const nameIn = (line: string): string => /^(?:other\/)?(?:\w+:)?(\w)/.exec(line)![1]!;
const isEnding = (line: string): boolean => line.endsWith(' ending');

test('objects are deleted and kept as forecast, and uncertain forecasts are rare', async () => {
  const random = seededRandom(SEED);
  const graphs = Array.from({ length: GRAPHS }, () => drawGraph(random));
  const bench = new Bench(cluster.client);
  await bench.prepare(() => sleep(200));
  await bench.build(graphs);
  const before = await bench.atRest(graphs.length, () => sleep(500));
  const fates = await predicted(cluster.client, graphs);
  await bench.delete(graphs);
  const after = await bench.atRest(graphs.length, () => sleep(500));
  const problems = graphs.flatMap((graph, i) => {
    const alive = new Set(after[i]!.filter((line) => !isEnding(line)).map(nameIn));
    const wrong = before[i]!.filter((line) => !isEnding(line)).flatMap((line) => {
      const name = nameIn(line);
      const fate = fates.get(`g${i}-${name}`) ?? 'kept';
      const is = alive.has(name) ? 'kept' : 'deleted';
      return fate === 'uncertain' || fate === is ? [] : [`${name} is ${is}, and the forecast was: ${fate}`];
    });
    return wrong.length === 0 ? [] : [{ wrong, before: before[i], ...graph, after: after[i] }];
  });
  expect({ seed: SEED, problems }).toEqual({ seed: SEED, problems: [] });
  const uncertain = [...fates.values()].filter((fate) => fate === 'uncertain').length;
  process.stdout.write(`${fates.size} objects are deleted, ${uncertain} of them uncertain\n`);
  expect(uncertain).toBeLessThan(fates.size / 5);
});
