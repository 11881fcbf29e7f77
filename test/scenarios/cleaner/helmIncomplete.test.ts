// A Helm release with objects that may not be deleted: the other objects are deleted, and the records stay with status
// `uninstalling`. The Cleaner retries until everything is deleted or the user has finished the uninstall with Helm.

import { minutes } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Cleaner } from 'lapse/api/cleaner';
import { document, installed, type ReleaseFixture, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect, test } from 'vitest';
import { RECORD, readRelease, uninstalls } from './incomplete.ts';
import { configMap } from './kit.ts';
import { type RbacCluster, withRbac } from './rbac.ts';

/** The embedded server knows only one user. */
const AUTHOR = 'admin';
const OWN = ['list secrets', 'delete secrets', 'delete configmaps'].map((right) => `${right} in default`);

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
