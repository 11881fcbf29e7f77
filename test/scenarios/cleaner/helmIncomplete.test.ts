// A Helm release with objects that may not be deleted: the other objects are deleted, and the records stay with status
// `uninstalling`. The Cleaner retries until everything is deleted or the user has finished the uninstall with Helm.

import { formatTime, instant, minutes, plus, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Cleaner } from 'lapse/api/cleaner';
import { document, installed, type ReleaseFixture, storedRelease } from 'lapse/helm/release.testkit';
import { openStored, readStored } from 'lapse/helm/storage';
import { describe, expect, test } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { begin, cleaner, configMap, ready, statusOf } from './kit.ts';
import { type RbacCluster, withRbac } from './rbac.ts';

/** The embedded server knows only one user. */
const AUTHOR = 'admin';
const RECORD = 'sh.helm.release.v1.shop.v1';
const OWN = ['list secrets', 'delete secrets', 'delete configmaps'].map((right) => `${right} in default`);
const uninstalls = (more = {}) => cleaner({ ttl: '1m', helm: { release: 'shop', delete: true }, ...more });
const volume = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
});
const MANIFEST = document('ConfigMap', 'm') + document('PersistentVolume', 'wide');
const world = (more: ReleaseFixture = {}): KubeObject[] => [
  installed(configMap('m')),
  installed(volume('wide')),
  storedRelease({ manifest: MANIFEST, ...more }),
  uninstalls(),
];
const conditionOf = async ({ simulation }: RbacCluster) =>
  (await simulation.get<Cleaner>('cleaner/c'))?.status?.conditions?.[0];
const recordOf = async ({ simulation }: RbacCluster) => (await simulation.get(`secret/${RECORD}`))!;
const isThere = async ({ simulation }: RbacCluster, ref: string): Promise<boolean> => {
  const live = await simulation.get(ref);
  return live !== undefined && live.metadata.deletionTimestamp === undefined;
};
/** The fields that packages/lapse/src/helm reads from a stored record. */
function readRelease(object: KubeObject) {
  const stored = readStored(object, object.kind === 'ConfigMap' ? 'configmap' : 'secret', 'shop');
  const { decoded } = openStored(stored!, { name: 'shop', namespace: 'default' });
  if (decoded.kind === 'corrupt') throw new Error(decoded.why);
  return decoded.release;
}

describe('an object of the whole cluster', () => {
  test('is deleted with the release if the author may delete it', () =>
    withRbac({}, async (cluster) => {
      cluster.rbac.allow(AUTHOR, ...OWN, 'delete persistentvolumes');
      await cluster.simulation.apply(world());
      await cluster.simulation.timePasses(minutes(2));
      expect(await isThere(cluster, 'persistentvolume/wide')).toBe(false);
      expect(await cluster.simulation.get('cleaner/c')).toBeUndefined();
    }));

  test('is kept if the author may not delete it; a right that is granted later completes the uninstall', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, ...OWN, 'patch secrets', 'delete persistentvolumes in default');
      await simulation.apply(world());
      const before = readRelease(await recordOf(cluster));
      await simulation.timePasses(minutes(2));
      expect(await isThere(cluster, 'configmap/m')).toBe(false);
      expect(await isThere(cluster, 'persistentvolume/wide')).toBe(true);
      expect(await conditionOf(cluster)).toMatchObject({
        status: 'False',
        reason: 'HelmUninstallIncomplete',
        message:
          'release shop is not uninstalled completely, left: PersistentVolume/wide (admin may not delete persistentvolumes wide); grant the right to delete them, run "helm uninstall shop -n default", or set cleaner.helm.purgeIncomplete: true',
      });
      const record = await recordOf(cluster);
      expect(record.metadata.labels).toMatchObject({ status: 'uninstalling', owner: 'helm', version: '1' });
      expect(readRelease(record)).toEqual({ ...before, status: 'uninstalling' });
      rbac.allow(AUTHOR, 'delete persistentvolumes');
      await simulation.timePasses(minutes(5));
      expect(await isThere(cluster, 'persistentvolume/wide')).toBe(false);
      expect(await recordOf(cluster)).toBeUndefined();
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));

  test('is kept if it belongs to another release, whatever the author may delete', () =>
    withRbac({}, async (cluster) => {
      cluster.rbac.masters.add(AUTHOR);
      const other = installed(volume('wide'), { name: 'shop', namespace: 'other' });
      await cluster.simulation.apply([other, ...world().filter(({ kind }) => kind !== 'PersistentVolume')]);
      await cluster.simulation.timePasses(minutes(2));
      expect(await isThere(cluster, 'persistentvolume/wide')).toBe(true);
      expect((await conditionOf(cluster))?.message).toContain(
        'PersistentVolume/wide (not owned by the release)',
      );
    }));

  test('that the author may neither read nor delete is reported alike, whether it exists or not', async () => {
    const messages = [true, false].map(async (exists) => {
      let message: string | undefined;
      await withRbac({}, async (cluster) => {
        cluster.rbac.allow(AUTHOR, ...OWN);
        await cluster.simulation.apply(world().filter(({ kind }) => exists || kind !== 'PersistentVolume'));
        await cluster.simulation.timePasses(minutes(2));
        message = (await conditionOf(cluster))?.message;
      });
      return message;
    });
    const [there, absent] = await Promise.all(messages);
    expect(there).toContain('admin may not delete persistentvolumes wide');
    expect(absent).toBe(there);
  });

  test('that the author may read and not delete completes the uninstall when another user deletes it', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, ...OWN, 'patch secrets', 'get persistentvolumes');
      await simulation.apply(world());
      await simulation.timePasses(minutes(2));
      expect((await conditionOf(cluster))?.reason).toBe('HelmUninstallIncomplete');
      await simulation.delete('persistentvolume/wide');
      await simulation.timePasses(minutes(5));
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));
});

test('a service account deletes what the API server lets it delete', () =>
  withRbac({}, async (cluster) => {
    const { rbac, simulation } = cluster;
    const robot = 'system:serviceaccount:default:robot';
    rbac.allow(AUTHOR, 'impersonate serviceaccounts');
    rbac.allow(
      robot,
      'list secrets',
      'delete secrets',
      'patch secrets',
      'get configmaps',
      'delete configmaps',
    );
    rbac.allow(robot, 'get persistentvolumes');
    await simulation.apply(
      world().map((one) => (one.kind === 'Cleaner' ? uninstalls({ serviceAccountName: 'robot' }) : one)),
    );
    await simulation.timePasses(minutes(2));
    expect((await conditionOf(cluster))?.message).toContain(
      `PersistentVolume/wide (User "${robot}" cannot delete resource "persistentvolumes")`,
    );
    expect((await recordOf(cluster)).metadata.labels?.status).toBe('uninstalling');
    rbac.allow(robot, 'delete persistentvolumes');
    await simulation.timePasses(minutes(5));
    expect(await simulation.get('cleaner/c')).toBeUndefined();
  }));

test('a record that may not be written stays as it is, and the message says why', () =>
  withRbac({}, async (cluster) => {
    cluster.rbac.allow(AUTHOR, ...OWN);
    await cluster.simulation.apply(world());
    await cluster.simulation.timePasses(minutes(2));
    expect((await recordOf(cluster)).metadata.labels?.status).toBe('deployed');
    expect((await conditionOf(cluster))?.message).toContain(
      `; the release record is unchanged: admin may not patch secrets ${RECORD} in namespace default`,
    );
  }));

describe('hooks', () => {
  const hook = (event: string) => ({
    name: 'h',
    kind: 'Service',
    events: [event],
    manifest: 'apiVersion: v1\nkind: Service\nmetadata: {name: h}\nspec: {ports: [{port: 80}]}\n',
  });
  const withHook = (event: string) => [
    installed(configMap('m')),
    storedRelease({ manifest: document('ConfigMap', 'm'), hooks: [hook(event)] }),
    uninstalls(),
  ];

  test.each(['pre-delete', 'post-delete'])(
    'a %s hook that the author may not create stops the uninstall before anything is deleted',
    (event) =>
      withRbac({}, async (cluster) => {
        const { rbac, simulation } = cluster;
        rbac.allow(AUTHOR, ...OWN);
        await simulation.apply(withHook(event));
        await simulation.timePasses(minutes(2));
        expect(await conditionOf(cluster)).toMatchObject({
          reason: 'HelmUninstallFailed',
          message:
            'the release shop: hook Service/h: admin may not create services in namespace default; to uninstall without hooks, set cleaner.helm.hooks: skip',
        });
        expect(await isThere(cluster, 'configmap/m')).toBe(true);
        expect(await isThere(cluster, 'service/h')).toBe(false);
        rbac.allow(AUTHOR, 'create services', 'delete services');
        await simulation.timePasses(minutes(5));
        expect(await isThere(cluster, 'service/h')).toBe(true);
        expect(await simulation.get('cleaner/c')).toBeUndefined();
      }),
  );

  test('a hook that Lapse itself may not create stops the uninstall before anything is deleted', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.masters.add(AUTHOR);
      rbac.deniedToLapse.add('create services');
      await simulation.apply(withHook('post-delete'));
      await simulation.timePasses(minutes(2));
      expect((await conditionOf(cluster))?.message).toContain(
        'hook Service/h: Lapse may not create services in namespace default; to uninstall without hooks',
      );
      expect(await isThere(cluster, 'configmap/m')).toBe(true);
    }));

  test('a hook that may not be created does not stop the uninstall if the operator skips hooks', () =>
    withRbac({ cleaner: { helm: { hooks: 'skip' } } }, async (cluster) => {
      cluster.rbac.allow(AUTHOR, ...OWN);
      await cluster.simulation.apply(withHook('pre-delete'));
      await cluster.simulation.timePasses(minutes(2));
      expect(await cluster.simulation.get('cleaner/c')).toBeUndefined();
      expect(await isThere(cluster, 'service/h')).toBe(false);
    }));

  test('an incomplete uninstall runs the pre-delete hook once, and the post-delete hook when it completes', () =>
    withRbac({}, async (cluster) => {
      const { rbac, simulation } = cluster;
      rbac.allow(AUTHOR, ...OWN, 'patch secrets', 'create services', 'get persistentvolumes');
      const hooks = ['pre-delete', 'post-delete'].map((event) => ({
        ...hook(event),
        name: event,
        manifest: hook(event).manifest.replace('name: h', `name: ${event}`),
      }));
      await simulation.apply(world({ hooks }));
      await simulation.timePasses(minutes(20));
      const created = () =>
        simulation.requests
          .filter(({ verb, resource }) => verb === 'create' && resource === 'services')
          .map(({ body }) => (JSON.parse(Buffer.from(body!).toString()) as KubeObject).metadata.name);
      expect(created()).toEqual(['pre-delete']);
      rbac.allow(AUTHOR, 'delete persistentvolumes');
      await simulation.timePasses(minutes(5));
      expect(created()).toEqual(['pre-delete', 'post-delete']);
      expect(await simulation.get('cleaner/c')).toBeUndefined();
    }));
});

describe('an object that the release does not own', () => {
  const mixed = (names: readonly string[] = ['other'], more: ReleaseFixture = {}): KubeObject[] => [
    installed(configMap('m')),
    ...names.map((name) => configMap(name)),
    storedRelease({ manifest: ['m', ...names].map((name) => document('ConfigMap', name)).join(''), ...more }),
    uninstalls(),
  ];
  const given = async (scene: Scene, objects: readonly KubeObject[], configuration = {}) => {
    begin(scene, configuration);
    await scene.given.object(objects);
    await scene.when.timePasses(minutes(1));
  };
  const recordIn = ({ then }: Scene) => then.object(`secret/${RECORD}`);

  scenario('keeps the records and the Cleaner; status, Event and next evaluation say so', async (scene) => {
    await given(scene, mixed());
    await scene.then.exists('configmap/other');
    await scene.then.isGone('configmap/m');
    expect(readRelease(await recordIn(scene)).status).toBe('uninstalling');
    const { message, reason } = await ready(scene);
    expect({ message, reason }).toMatchObject({
      reason: 'HelmUninstallIncomplete',
      message: expect.stringContaining('left: ConfigMap/other (not owned by the release)'),
    });
    const next = plus(instant(VIRTUAL_START), minutes(6));
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(formatTime(next));
    const events = (await scene.then.events('cleaner/c')).filter((event) => event.reason === reason);
    expect(events).toMatchObject([{ type: 'Warning', note: message }]);
  });

  scenario('does not make the Cleaner write to the record again', async (scene) => {
    await given(scene, mixed());
    const { resourceVersion } = (await recordIn(scene)).metadata;
    await scene.when.timePasses(minutes(30));
    await scene.when.processCrashes({ downFor: seconds(10) });
    await scene.when.timePasses(minutes(30));
    expect((await recordIn(scene)).metadata.resourceVersion).toBe(resourceVersion);
    expect(await ready(scene)).toMatchObject({ reason: 'HelmUninstallIncomplete' });
  });

  scenario('completes the Cleaner when helm uninstall has removed the record', async (scene) => {
    await given(scene, mixed());
    await scene.when.user.delete(`secret/${RECORD}`);
    await scene.when.timePasses(minutes(5));
    await scene.then.isGone('cleaner/c');
    await scene.then.exists('configmap/other');
  });

  scenario('with purgeIncomplete the records are purged, and the Event lists the object', async (scene) => {
    await given(scene, mixed(), { helm: { purgeIncomplete: true } });
    await scene.then.isGone(`secret/${RECORD}`);
    await scene.then.isGone('cleaner/c');
    await scene.then.exists('configmap/other');
    const [event] = (await scene.then.events('cleaner/c')).filter(
      (one) => one.reason === 'HelmReleaseUninstalled',
    );
    expect(event).toMatchObject({
      type: 'Warning',
      note: 'the release shop was uninstalled, 1 object is gone; left in place: ConfigMap/other (not owned by the release)',
    });
  });

  scenario('is one of many: the message stays short and counts the rest', async (scene) => {
    const names = Array.from({ length: 100 }, (_, i) => `other-${i}`);
    await given(scene, mixed(names));
    const { message } = await ready(scene);
    expect(message).toMatch(/other-0 \(not owned by the release\), .* and 8\d more; grant the right/);
    expect(message).toContain('purgeIncomplete: true');
  });

  scenario('after a failed upgrade, objects of the deployed revision are deleted too', async (scene) => {
    begin(scene);
    const [old, failed] = [document('ConfigMap', 'old'), document('ConfigMap', 'm')];
    await scene.given.object([
      installed(configMap('m')),
      configMap('old'),
      storedRelease({ revision: 1, status: 'deployed', manifest: old }),
      storedRelease({ revision: 2, status: 'failed', manifest: failed }),
      uninstalls(),
    ]);
    await scene.when.timePasses(minutes(30));
    const newest = await scene.then.object('secret/sh.helm.release.v1.shop.v2');
    expect(newest.metadata.labels?.status).toBe('uninstalling');
    expect(await ready(scene)).toMatchObject({ reason: 'HelmUninstallIncomplete' });
    await scene.when.user.delete('configmap/old');
    await scene.when.timePasses(minutes(5));
    await scene.then.isGone('cleaner/c');
  });

  scenario('a rollback of the release after that is not deleted', async (scene) => {
    await given(scene, mixed());
    await scene.when.user.create(installed(configMap('m')));
    await scene.when.user.create(
      storedRelease({ revision: 2, manifest: document('ConfigMap', 'm'), status: 'deployed' }),
    );
    await scene.when.timePasses(minutes(5));
    await scene.then.exists('configmap/m');
    expect(await ready(scene)).toMatchObject({
      reason: 'HelmUninstallFailed',
      message: expect.stringContaining('revision 2 appeared'),
    });
  });

  scenario('a record that changes while it is written is read again', async (scene) => {
    begin(scene);
    await scene.given.object(mixed());
    scene.when.justBefore('patch secrets', () =>
      scene.when.user.patch(`secret/${RECORD}`, { metadata: { labels: { team: 'shop' } } }),
    );
    await scene.when.timePasses(minutes(2));
    expect((await recordIn(scene)).metadata.labels).toMatchObject({ status: 'uninstalling', team: 'shop' });
  });

  scenario.each<{ driver: 'secret' | 'configmap'; packing: 'gzip' | 'plain' }>(
    {
      'the record is rewritten in a ConfigMap': { driver: 'configmap', packing: 'gzip' },
      'the record is rewritten as plain JSON': { driver: 'secret', packing: 'plain' },
    },
    async (scene, { driver, packing }) => {
      const manifest = document('ConfigMap', 'm') + document('ConfigMap', 'other');
      const record = storedRelease({ manifest }, driver, packing);
      await given(scene, [installed(configMap('m')), configMap('other'), record, uninstalls()]);
      const stored = await scene.then.object(`${driver}/${RECORD}`);
      expect(readRelease(stored)).toMatchObject({ status: 'uninstalling', manifest });
    },
  );
});

scenario('the resource policy keep does not make an uninstall incomplete', async (scene) => {
  begin(scene);
  const keep = '  annotations:\n    helm.sh/resource-policy: keep\n';
  await scene.given.object([
    installed(configMap('kept')),
    installed(configMap('m')),
    storedRelease({ manifest: document('ConfigMap', 'kept', keep) + document('ConfigMap', 'm') }),
    uninstalls(),
  ]);
  await scene.when.timePasses(minutes(1));
  await scene.then.exists('configmap/kept');
  await scene.then.isGone(`secret/${RECORD}`);
  await scene.then.isGone('cleaner/c');
  const [event] = (await scene.then.events('cleaner/c')).filter(
    (one) => one.reason === 'HelmReleaseUninstalled',
  );
  expect(event).toMatchObject({
    type: 'Normal',
    note: 'the release shop was uninstalled, 1 object is gone; left in place: ConfigMap/kept (keep)',
  });
});
