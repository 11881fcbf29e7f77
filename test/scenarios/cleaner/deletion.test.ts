// What a Cleaner deletes, in which order, and what happens when the cluster changes between decision and deletion.

import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import type { Matcher } from '@lapse/simulation/requestInfo';
import type { Cleaner } from 'lapse/api/cleaner';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { begin, cleaner, configMap, ready, reasonOf, statusOf, target } from './kit.ts';

const three = ['a', 'b', 'c'];
const deletesThree = (more: Partial<Cleaner['spec']> = {}) =>
  cleaner({ targets: three.map((name) => target(name, name, { delete: true })), ...more });
const deletions = ({ then }: Scene): string[] =>
  then.requests('DELETE').map(({ resource, name, status }) => `${resource}/${name} ${status ?? ''}`.trim());
const deleted = (scene: Scene): string[] => deletions(scene).map((text) => text.split(' ')[0]!);

/** The process is killed when it is about to send this request. The request never arrives. */
async function crashBefore(scene: Scene, matcher: Matcher): Promise<void> {
  const simulation = await scene.simulation();
  scene.when.serverAnswers(matcher, { drop: 'before' });
  scene.when.justBefore(matcher, () => simulation.crash());
  await scene.when.timePasses(hours(1));
}

describe('order and record', () => {
  scenario('2. without conditions, at the TTL: targets, release, Cleaner, in that order', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a'),
      installed(configMap('chart')),
      storedRelease({ manifest: document('ConfigMap', 'chart') }),
      cleaner({ targets: [target('a', 'a', { delete: true })], helm: { release: 'shop', delete: true } }),
    ]);
    await scene.when.timePasses(hours(1));
    expect(deleted(scene)).toEqual([
      'configmaps/a',
      'configmaps/chart',
      'secrets/sh.helm.release.v1.shop.v1',
      'cleaners/c',
    ]);
    const events = (await scene.then.events('cleaner/c')).map(({ reason }) => reason).sort();
    expect(events).toEqual(['Deleting', 'HelmReleaseUninstalled']);
  });

  scenario('the decision is written before the first deletion: exact objects, by uid', async (scene) => {
    begin(scene);
    await scene.given.object([...three.map((name) => configMap(name)), deletesThree()]);
    const uids: (string | undefined)[] = [];
    for (const name of three) uids.push((await scene.then.object(`configmap/${name}`)).metadata.uid);
    const { userClient } = await scene.simulation();
    let record: Cleaner['status'];
    scene.when.justBefore('DELETE', async () => {
      record = (await userClient.get<Cleaner>('cleaner/c'))?.status;
    });
    await scene.when.timePasses(hours(1));
    expect(record?.deletion).toEqual({
      generation: 1,
      seal: expect.any(String),
      evaluatedAt: '2026-01-01T01:00:00Z',
      startedAt: '2026-01-01T01:00:00Z',
      targets: three.map((name, i) => ({
        group: '',
        version: 'v1',
        resource: 'configmaps',
        name,
        uid: uids[i],
      })),
    });
    expect(record?.conditions?.[0]).toMatchObject({ status: 'True', reason: 'Deleting' });
    expect(record?.nextScheduledEvaluation).toBeUndefined();
  });

  scenario('targets delete with Background propagation and a uid', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), cleaner({ targets: [target('a', 'a', { delete: true })] })]);
    const bodies: unknown[] = [];
    scene.when.justBefore('delete configmaps', ({ body }) =>
      bodies.push(JSON.parse(Buffer.from(body!).toString())),
    );
    await scene.when.timePasses(hours(1));
    expect(bodies).toEqual([
      {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid: expect.any(String) },
        propagationPolicy: 'Background',
      },
    ]);
  });

  scenario(
    'an object with a finalizer counts as deleted, and the Cleaner does not wait for it',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        configMap('a', undefined, { finalizers: ['example.com/hold'] }),
        cleaner({ targets: [target('a', 'a', { delete: true })] }),
      ]);
      await scene.when.timePasses(hours(1));
      await scene.then.isTerminating('configmap/a');
      await scene.then.isGone('cleaner/c');
    },
  );
});

describe('24. crashes', () => {
  scenario(
    'after the first of three: the rest is deleted without a new evaluation, and a new object is kept',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        ...three.map((name) => configMap(name, { ready: 'yes' })),
        cleaner({
          targets: three.map((name) => target(name, name, { delete: true, include: name === 'a' })),
          conditions: ['a.metadata.labels.ready == "yes"'],
          retry: { period: '1h' },
        }),
      ]);
      await crashBefore(scene, 'delete configmaps b');
      await scene.then.isGone('configmap/a');
      await scene.then.exists('configmap/b');
      // Another client recreates the first object under the same name, and the condition is false by now.
      await scene.when.user.apply(configMap('a', { ready: 'no' }));
      const newcomer = (await scene.then.object('configmap/a')).metadata.uid;
      await scene.when.processRestarts();
      await scene.then.isGone('configmap/b');
      await scene.then.isGone('configmap/c');
      await scene.then.isGone('cleaner/c');
      expect((await scene.then.object('configmap/a')).metadata.uid).toBe(newcomer);
    },
  );

  scenario('a target replaced under its name between decision and deletion is kept', async (scene) => {
    begin(scene);
    await scene.given.object([...three.map((name) => configMap(name)), deletesThree()]);
    scene.when.justBefore('delete configmaps b', async () => {
      await scene.when.user.delete('configmap/b');
      await scene.when.user.create(configMap('b', { new: 'yes' }));
    });
    await scene.when.timePasses(hours(1));
    await scene.then.exists('configmap/b');
    await scene.then.isGone('configmap/c');
    await scene.then.isGone('cleaner/c');
  });
});

describe('25. Cleaners deleted by hand', () => {
  scenario('while waiting: nothing else is deleted', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), cleaner({ targets: [target('a', 'a', { delete: true })] })]);
    await scene.when.user.delete('cleaner/c');
    await scene.when.timePasses(hours(5));
    await scene.then.exists('configmap/a');
    expect(deletions(scene)).toEqual([]);
  });

  scenario(
    'with a finalizer on the Cleaner: nothing else is deleted, with or without TTL and conditions',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        configMap('a'),
        cleaner(
          {
            ttl: '0s',
            targets: [target('a', 'a', { delete: true, include: true })],
            conditions: ['false'],
            retry: { period: '1h' },
          },
          { finalizers: ['cleaner.vtex.io/target-finalizer'] },
        ),
      ]);
      await scene.when.user.delete('cleaner/c');
      await scene.when.timePasses(hours(5));
      await scene.then.exists('configmap/a');
      await scene.then.isTerminating('cleaner/c');
      expect(deletions(scene)).toEqual([]);
    },
  );

  scenario('during a deletion: the remaining objects are kept', async (scene) => {
    begin(scene);
    await scene.given.object([...three.map((name) => configMap(name)), deletesThree()]);
    await crashBefore(scene, 'delete configmaps b');
    await scene.when.user.delete('cleaner/c');
    await scene.when.processRestarts();
    await scene.when.timePasses(hours(5));
    await scene.then.exists('configmap/b');
    await scene.then.exists('configmap/c');
  });
});

describe('changes between decision and deletion', () => {
  scenario('a spec edited before anything was deleted: the decision is dropped', async (scene) => {
    begin(scene);
    await scene.given.object([...three.map((name) => configMap(name)), deletesThree()]);
    await crashBefore(scene, 'delete configmaps a');
    // The start is noted, but nothing is missing.
    expect((await statusOf(scene)).deletion?.startedAt).toBeDefined();
    await scene.when.user.patch('cleaner/c', { spec: { ttl: '100h' } });
    await scene.when.processRestarts();
    await scene.when.timePasses(seconds(30));
    expect(await reasonOf(scene)).toBe('NotExpired');
    expect((await statusOf(scene)).deletion).toBeUndefined();
    for (const name of three) await scene.then.exists(`configmap/${name}`);
  });

  scenario('a spec edited after the first deletion: the recorded list is completed', async (scene) => {
    begin(scene);
    await scene.given.object([...three.map((name) => configMap(name)), deletesThree()]);
    await crashBefore(scene, 'delete configmaps c');
    await scene.when.user.patch('cleaner/c', { spec: { ttl: '100h' } });
    await scene.when.processRestarts();
    await scene.then.isGone('configmap/c');
    await scene.then.isGone('cleaner/c');
  });

  scenario('a spec edited during an uninstall: the uninstall is completed', async (scene) => {
    begin(scene);
    await scene.given.object([
      installed(configMap('m1')),
      installed(configMap('m2')),
      storedRelease({ manifest: document('ConfigMap', 'm1') + document('ConfigMap', 'm2') }),
      cleaner({ helm: { release: 'shop', delete: true } }),
    ]);
    await crashBefore(scene, 'delete configmaps m2');
    await scene.then.isGone('configmap/m1');
    await scene.when.user.patch('cleaner/c', { spec: { ttl: '100h', helm: { delete: false } } });
    await scene.when.processRestarts();
    await scene.then.isGone('configmap/m2');
    await scene.then.isGone('secret/sh.helm.release.v1.shop.v1');
    await scene.then.isGone('cleaner/c');
  });

  scenario('a spec edited during the evaluation: the decision is not recorded', async (scene) => {
    begin(scene);
    await scene.given.object([...three.map((name) => configMap(name)), deletesThree()]);
    scene.when.justBefore('patch cleaners/status', () =>
      scene.when.user.patch('cleaner/c', { spec: { ttl: '2h' } }),
    );
    await scene.when.timePasses(hours(1));
    for (const name of three) await scene.then.exists(`configmap/${name}`);
    expect(await reasonOf(scene)).toBe('NotExpired');
    await scene.when.timePasses(hours(1));
    await scene.then.isGone('configmap/a');
  });

  scenario('with stale caches the Cleaner asks the server and deletes nothing', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a', { done: 'no' }),
      cleaner({
        ttl: '1m',
        targets: [target('a', 'a', { delete: true, include: true })],
        conditions: ['a.metadata.labels.done == "yes"'],
        retry: { period: '10m' },
      }),
    ]);
    await scene.when.timePasses(minutes(2));
    await scene.when.user.patch('configmap/a', { metadata: { labels: { done: 'maybe' } } });
    scene.when.justBefore('get configmaps a', () =>
      scene.when.user.patch('configmap/a', { metadata: { labels: { done: 'no' } } }),
    );
    await scene.when.user.patch('configmap/a', { metadata: { labels: { done: 'yes' } } });
    await scene.then.exists('configmap/a');
    expect(await reasonOf(scene)).toBe('WaitingForConditions');
  });
});

scenario("the operator's limit applies to targets and to objects of releases", async (scene) => {
  scene.given.controllers('cleaner');
  scene.given.configuration({ actAs: 'controller', deletions: { perSecond: 1 } });
  await scene.given.object([
    ...three.map((name) => configMap(name)),
    installed(configMap('m')),
    storedRelease({ manifest: document('ConfigMap', 'm') }),
    deletesThree({ helm: { release: 'shop', delete: true } }),
  ]);
  await scene.when.timePasses(millis(hours(1) + 500));
  expect(deleted(scene)).toHaveLength(1);
  await scene.when.timePasses(seconds(2));
  expect(deleted(scene)).toHaveLength(3);
  await scene.when.timePasses(seconds(5));
  expect(deleted(scene)).toEqual([
    ...three.map((name) => `configmaps/${name}`),
    'configmaps/m',
    'secrets/sh.helm.release.v1.shop.v1',
    'cleaners/c',
  ]);
});

describe('dry runs', () => {
  scenario('mode: DryRun reports once what would be deleted, and deletes nothing', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a'),
      cleaner({ ttl: '0s', mode: 'DryRun', targets: [target('a', 'a', { delete: true })] }),
    ]);
    await scene.when.timePasses(hours(3));
    await scene.then.exists('configmap/a');
    expect(await ready(scene)).toMatchObject({
      status: 'True',
      reason: 'DryRun',
      message: 'all conditions are true: would delete 1 object (dry run)',
    });
    expect((await scene.then.events('cleaner/c')).map(({ reason }) => reason)).toEqual(['WouldDelete']);
    await scene.when.user.patch('cleaner/c', { spec: { mode: 'Enforce' } });
    await scene.then.isGone('configmap/a');
  });

  scenario('a process in dry-run mode deletes and records nothing', async (scene) => {
    scene.given.controllers('cleaner');
    scene.given.configuration({ actAs: 'controller', dryRun: true });
    await scene.given.object([
      configMap('a'),
      cleaner({ ttl: '0s', targets: [target('a', 'a', { delete: true })] }),
    ]);
    await scene.when.timePasses(hours(3));
    await scene.then.exists('configmap/a');
    expect((await scene.then.object<Cleaner>('cleaner/c')).status).toBeUndefined();
    scene.given.noDoubleRun('status is written dry, again and again');
  });
});

describe('the clocks', () => {
  scenario(
    'a server whose clock is far behind: nothing is deleted before the server time allows it',
    async (scene) => {
      begin(scene);
      await scene.given.object([configMap('a'), cleaner({ targets: [target('a', 'a', { delete: true })] })]);
      scene.given.noDoubleRun('while the clock is wrong, the next evaluation is reported anew');
      await scene.when.clockJumps(hours(2));
      await scene.when.timePasses(minutes(10));
      await scene.then.exists('configmap/a');
      expect(deletions(scene)).toEqual([]);
    },
  );

  scenario('watches broken with 410, duplicated events and a slow server do no harm', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a'),
      cleaner({
        ttl: '1h',
        targets: [target('a', 'a', { delete: true, include: true })],
        conditions: ['has(a.metadata.labels)'],
        retry: { period: '5h' },
      }),
    ]);
    await scene.when.timePasses(hours(1));
    await scene.when.watchesBreak('gone');
    (await scene.simulation()).faults.duplicateEvents();
    scene.when.serverIsSlow(millis(200));
    await scene.when.timePasses(minutes(1));
    await scene.when.user.patch('configmap/a', { metadata: { labels: { x: 'y' } } });
    await scene.when.timePasses(minutes(5));
    await scene.then.isGone('configmap/a');
    expect(deleted(scene)).toEqual(['configmaps/a', 'cleaners/c']);
  });
});
