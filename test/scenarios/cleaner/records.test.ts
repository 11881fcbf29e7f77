// Decision records in status: the Cleaner executes only records that Lapse wrote, and reviews the rights again.

import { formatTime, hours, minutes } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { KubeEvent } from '@lapse/runtime/events/build';
import type { Cleaner, DeletionRecord } from 'lapse/api/cleaner';
import { describe, expect, test } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, statusOf, target } from './kit.ts';
import { type RbacCluster, withRbac } from './rbac.ts';

const AUTHOR = 'admin';
const ROBOT = 'system:serviceaccount:default:robot';
const ALL = (resource: string) => ['get', 'list', 'watch', 'delete'].map((verb) => `${verb} ${resource}`);

/** Waits for a condition that never becomes true, so that only a record can cause a deletion. */
const waiting = (spec: Partial<Cleaner['spec']> = {}) =>
  cleaner({
    ttl: '0s',
    targets: [target('a', 'a', { delete: true, include: true })],
    conditions: ['false'],
    retry: { period: '10m' },
    ...spec,
  });
const recorded = ({ metadata }: KubeObject) => ({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
});
const discarded = async ({ simulation }: RbacCluster) =>
  (await simulation.user.list(KubeEvent)).items.filter(({ reason }) => reason === 'DecisionDiscarded');
const recordOf = async ({ simulation }: RbacCluster): Promise<DeletionRecord | undefined> =>
  (await simulation.get<Cleaner>('cleaner/c'))?.status?.deletion;

describe('a record that Lapse did not write is discarded', () => {
  test('a record with an older generation, another account and foreign targets is discarded', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, ...ALL('configmaps'));
      rbac.allow(ROBOT, ...ALL('configmaps'));
      await simulation.apply([configMap('a'), configMap('foreign'), waiting()]);
      await simulation.patch('cleaner/c', { spec: { retry: { period: '20m' } } });
      const foreign = (await simulation.get('configmap/foreign'))!;
      const deletion = {
        generation: 1,
        evaluatedAt: formatTime(simulation.clock.now()),
        startedAt: formatTime(simulation.clock.now()),
        serviceAccountName: 'robot',
        targets: [recorded(foreign)],
        seal: 'Zm9yZ2Vk',
      };
      await simulation.userClient.status('cleaner/c', { deletion });
      simulation.crash();
      await simulation.restart();
      await simulation.timePasses(minutes(5));
      expect(await simulation.get('configmap/foreign')).toBeDefined();
      expect(rbac.asked.filter((line) => line.includes('delete'))).toEqual([]);
      expect(await recordOf(cluster)).toBeUndefined();
      expect((await discarded(cluster)).map(({ type }) => type)).toEqual(['Warning']);
      expect(simulation.registry.text()).toContain(
        'lapse_cleaner_decisions_discarded_total{reason="unauthenticated"} 1',
      );
    }));

  scenario('a genuine record to which a target was added is discarded', async (scene) => {
    const record = await givenRecord(scene);
    const other = await scene.then.object('configmap/other');
    const targets = [...record.targets, recorded(other)];
    await scene.when.user.status('cleaner/c', { deletion: { ...record, targets } });
    await scene.when.processRestarts();
    await scene.when.timePasses(minutes(1));
    await scene.then.exists('configmap/other');
  });

  scenario('a genuine record of another Cleaner is discarded', async (scene) => {
    const record = await givenRecord(scene);
    await scene.when.user.delete('cleaner/c');
    await scene.given.object(waiting());
    await scene.when.user.status('cleaner/c', { deletion: record });
    await scene.when.processRestarts();
    await scene.when.timePasses(minutes(1));
    await scene.then.exists('configmap/a');
    expect((await statusOf(scene)).deletion).toBeUndefined();
  });
});

/** A Cleaner that has recorded its decision, in a process that is killed before the first deletion. */
async function givenRecord(scene: Parameters<typeof begin>[0]): Promise<DeletionRecord> {
  begin(scene);
  await scene.given.object([
    configMap('a'),
    configMap('other'),
    waiting({ ttl: '1m', conditions: ['true'] }),
  ]);
  const simulation = await scene.simulation();
  scene.when.serverAnswers('delete configmaps', { drop: 'before' });
  scene.when.justBefore('delete configmaps', () => simulation.crash());
  await scene.when.timePasses(minutes(1));
  const { deletion } = await statusOf(scene);
  expect(deletion?.targets.map(({ name }) => name)).toEqual(['a']);
  return deletion!;
}

describe('a record that Lapse wrote', () => {
  scenario('is carried out after a restart', async (scene) => {
    await givenRecord(scene);
    await scene.when.processRestarts();
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('configmap/a');
    await scene.then.isGone('cleaner/c');
  });

  scenario('is evaluated again when it is older than an hour and nothing was deleted', async (scene) => {
    await givenRecord(scene);
    await scene.when.timePasses(hours(2));
    await scene.when.processRestarts();
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('cleaner/c');
    const told = (await scene.then.events('cleaner/c')).filter(
      ({ reason }) => reason === 'DecisionDiscarded',
    );
    expect(told.map(({ note }) => note)).toEqual([expect.stringContaining('more than an hour old')]);
  });

  const revoked: Readonly<Record<string, (cluster: RbacCluster) => void>> = {
    'its author may no longer act as the account': ({ rbac }) => rbac.revoke(AUTHOR),
    'the account may no longer delete its targets': ({ rbac }) => rbac.revoke(ROBOT),
  };
  for (const [name, happens] of Object.entries(revoked))
    test(`deletes nothing after a restart when ${name}`, () =>
      withRbac({}, async (cluster) => {
        const { rbac, simulation } = cluster;
        rbac.allow(AUTHOR, 'impersonate serviceaccounts');
        rbac.allow(ROBOT, ...ALL('configmaps'));
        await simulation.apply([
          configMap('a'),
          waiting({ ttl: '1m', conditions: ['true'], serviceAccountName: 'robot' }),
        ]);
        simulation.faults.answer('delete configmaps', { drop: 'before' });
        simulation.faults.justBefore('delete configmaps', () => simulation.crash());
        await simulation.timePasses(minutes(1));
        expect(await recordOf(cluster)).toBeDefined();
        happens(cluster);
        const before = rbac.asked.length;
        await simulation.restart();
        await simulation.timePasses(minutes(1));
        expect(rbac.asked.slice(before).filter((line) => line.includes('delete'))).toEqual([]);
        expect(await simulation.get('configmap/a')).toBeDefined();
        expect((await simulation.get<Cleaner>('cleaner/c'))?.status?.conditions?.[0]?.reason).toBe(
          'Forbidden',
        );
      }));
});
