// The process is killed before or after every single write of a deletion with targets and a release, and is started
// again. At every point the result is the same: all recorded objects are deleted, no other object is, and Helm's
// records are deleted last, oldest first.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { isWrite } from '@lapse/simulation/requestInfo';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import type { Cleaner } from 'lapse/api/cleaner';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect, test } from 'vitest';
import { composeFamilies, findFamily } from '../compose.ts';
import { cleaner, configMap, target } from './kit.ts';

const TARGETS = ['t1', 't2', 't3'];
const CHART = ['m1', 'm2', 'm3'];
const manifest = CHART.map((name) => document('ConfigMap', name)).join('');

const world: KubeObject[] = [
  ...TARGETS.map((name) => configMap(name, { ready: 'yes' })),
  configMap('bystander', { ready: 'yes' }),
  ...CHART.map((name) => installed(configMap(name))),
  storedRelease({ revision: 1, status: 'superseded', manifest }),
  storedRelease({ revision: 2, manifest }),
  cleaner({
    targets: TARGETS.map((name) => target(name, name, { delete: true, include: name === 't1' })),
    conditions: ['t1.metadata.labels.ready == "yes"'],
    retry: { period: '1h' },
    helm: { release: 'shop', delete: true },
  }),
];

/** Objects that reuse the name of a deleted one do not belong to the release: the records are purged all the same. */
async function begin(objects = world, purgeIncomplete = true): Promise<Simulation> {
  const family = findFamily('cleaner');
  const cleaner = { authorKeySecret: { namespace: 'kube-system' }, helm: { purgeIncomplete } };
  const configuration = { actAs: 'controller', cleaner };
  const compose = composeFamilies({ families: [family], controllers: [], configuration, gates: {} });
  const simulation = await simulate({ compose, kinds: family.kinds });
  await simulation.apply(objects);
  return simulation;
}

/** Writes of the deletion itself, without the status written before it. */
async function countWrites(): Promise<number> {
  const simulation = await begin();
  const before = simulation.writes().length;
  await simulation.timePasses(hours(1));
  const count = simulation.writes().length - before;
  expect(await simulation.get('cleaner/c')).toBeUndefined();
  await simulation.close();
  return count;
}

type Moment = 'before' | 'after';

/**
 * Kills the process at its nth write: either the request never arrives, or the server executes it and the answer is
 * lost.
 */
function crashAt(simulation: Simulation, nth: number, moment: Moment): void {
  const isNth = () => {
    let seen = 0;
    return (request: Parameters<typeof isWrite>[0]): boolean => isWrite(request) && ++seen === nth;
  };
  if (moment === 'before') simulation.faults.answer(isNth(), { drop: 'before' });
  simulation.faults.justBefore(isNth(), () => simulation.crash());
}

const gone = ({ changes }: Simulation) =>
  changes.filter(({ before, after }) => before !== undefined && after === undefined);

/** Another client recreates every deleted object under its old name. The Cleaner must not touch the new objects. */
async function recreate(simulation: Simulation): Promise<string[]> {
  const names: string[] = [];
  for (const { resource, name } of gone(simulation)) {
    if (resource !== 'configmaps') continue;
    const { userClient } = simulation;
    await userClient.create(configMap(name, { ready: 'no' }));
    names.push(name);
  }
  return names;
}

async function live(nth: number, moment: Moment): Promise<void> {
  const simulation = await begin();
  try {
    const original = new Map<string, string>();
    for (const name of [...TARGETS, ...CHART])
      original.set(name, (await simulation.get(`configmap/${name}`))!.metadata.uid!);
    crashAt(simulation, nth, moment);
    await simulation.timePasses(hours(1));
    expect(simulation.running).toBe(false);
    const newcomers = await recreate(simulation);
    await simulation.timePasses(seconds(5));
    await simulation.restart();
    await simulation.timePasses(minutes(20));

    const record = 'cleaner/c, newcomers and the rest';
    expect(await simulation.get('cleaner/c'), record).toBeUndefined();
    for (const [name, uid] of original) {
      const there = await simulation.get(`configmap/${name}`);
      // Another object may have the name by now. The original object was deleted exactly once.
      expect(there?.metadata.uid, `${name} at write ${nth} ${moment}`).not.toBe(uid);
      expect(there !== undefined, `${name} newcomer`).toBe(newcomers.includes(name));
      expect(gone(simulation).filter(({ before }) => before?.metadata.uid === uid)).toHaveLength(1);
    }
    expect(await simulation.get('configmap/bystander')).toBeDefined();
    const order = gone(simulation)
      .filter(({ by }) => by === 'process')
      .map(({ resource, name }) => `${resource}/${name}`);
    const storage = order.filter((name) => name.includes('sh.helm.release'));
    expect(storage).toEqual(['secrets/sh.helm.release.v1.shop.v1', 'secrets/sh.helm.release.v1.shop.v2']);
    expect(order.slice(-3)).toEqual([...storage, 'cleaners/c']);
    expect(order).toHaveLength(TARGETS.length + CHART.length + 3);
  } finally {
    await simulation.close();
  }
}

const WRITES = await countWrites();

test('a deletion takes a known number of writes', () => {
  // The key that authenticates the record, the record, the note that the deletion began, and one write for each object.
  expect(WRITES).toBe(3 + TARGETS.length + CHART.length + 2 + 1);
});

describe.each(['before', 'after'] as const)('the process is killed %s', (moment) => {
  test.each(Array.from({ length: WRITES }, (_, i) => i + 1))('write %i', (nth) => live(nth, moment));
});

describe('the process is killed twice', () => {
  const pairs = Array.from({ length: WRITES }, (_, i): [number, number] => [i + 1, 1 + ((i * 7) % 4)]);
  test.each(pairs)('at write %i, and again at write %i after the restart', async (first, second) => {
    const simulation = await begin();
    try {
      crashAt(simulation, first, 'after');
      await simulation.timePasses(hours(1));
      expect(simulation.running).toBe(false);
      crashAt(simulation, second, 'before');
      await simulation.restart();
      await simulation.timePasses(minutes(1));
      simulation.crash();
      simulation.faults.heal();
      await simulation.restart();
      await simulation.timePasses(minutes(20));
      expect(await simulation.get<Cleaner>('cleaner/c')).toBeUndefined();
      for (const name of [...TARGETS, ...CHART])
        expect(await simulation.get(`configmap/${name}`)).toBeUndefined();
      expect(await simulation.get('configmap/bystander')).toBeDefined();
    } finally {
      await simulation.close();
    }
  });
});

describe('the process is killed while an uninstall is incomplete', () => {
  const left = storedRelease({ revision: 2, manifest: manifest + document('ConfigMap', 'bystander') });
  const objects = world.map((one) => (one.metadata.name === left.metadata.name ? left : one));
  // The key, the record, the note that the deletion began, one for each object, Helm's record, and the condition.
  const writes = 3 + TARGETS.length + CHART.length + 2;
  const each = (['before', 'after'] as const).flatMap((moment) =>
    Array.from({ length: writes }, (_, i): [Moment, number] => [moment, i + 1]),
  );
  test.each(each)('%s write %i', async (moment, nth) => {
    const simulation = await begin(objects, false);
    try {
      crashAt(simulation, nth, moment);
      await simulation.timePasses(hours(1));
      expect(simulation.running).toBe(false);
      await simulation.restart();
      await simulation.timePasses(minutes(20));
      const { status } = (await simulation.get<Cleaner>('cleaner/c'))!;
      expect(status?.conditions?.[0]?.reason).toBe('HelmUninstallIncomplete');
      for (const name of [...TARGETS, ...CHART])
        expect(await simulation.get(`configmap/${name}`)).toBeUndefined();
      expect(await simulation.get('configmap/bystander')).toBeDefined();
      const labels = [1, 2].map(
        async (revision) =>
          (await simulation.get(`secret/sh.helm.release.v1.shop.v${revision}`))?.metadata.labels,
      );
      expect((await Promise.all(labels)).map((one) => one?.status)).toEqual(['superseded', 'uninstalling']);
      await simulation.delete('configmap/bystander');
      await simulation.timePasses(minutes(20));
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    } finally {
      await simulation.close();
    }
  });
});
