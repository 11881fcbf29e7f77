// Cleaners and Helm releases: what is deleted, what is kept, and when records are purged.

import { minutes } from '@lapse/base/instant';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import {
  deleted,
  eventsOf,
  keep,
  object,
  pod,
  record,
  release,
  service,
  uninstalls,
  volume,
} from './helmKit.ts';
import { begin, cleaner, configMap, namespaceOf, target } from './kit.ts';

describe('27. both drivers, both payloads', () => {
  scenario.each<{ driver: 'secret' | 'configmap'; packing: 'gzip' | 'plain' }>(
    {
      'Secrets, gzip': { driver: 'secret', packing: 'gzip' },
      'Secrets, plain JSON of old Helm versions': { driver: 'secret', packing: 'plain' },
      'ConfigMaps, gzip': { driver: 'configmap', packing: 'gzip' },
      'ConfigMaps, plain': { driver: 'configmap', packing: 'plain' },
    },
    async (scene, { driver, packing }) => {
      begin(scene);
      const manifest = [
        document('Secret', 's1'),
        document('ConfigMap', 'm1'),
        document('Pod', 'p1'),
        document('ServiceAccount', 'sa'),
        document('Service', 'svc'),
        document('ConfigMap', 'm2'),
        document('PersistentVolumeClaim', 'pvc', keep),
        document('Pod', 'p2'),
        document('Secret', 's2'),
        document('ConfigMap', 'm3'),
        document('ConfigMap', 'm4'),
        document('Service', 'svc2'),
      ].join('');
      const pvc = object('PersistentVolumeClaim', 'pvc', {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      });
      await scene.given.object([
        ...['s1', 's2'].map((name) => installed(object('Secret', name))),
        ...['m1', 'm2', 'm3', 'm4'].map((name) => installed(configMap(name))),
        ...['p1', 'p2'].map((name) => installed(pod(name))),
        ...['svc', 'svc2'].map((name) => installed(service(name))),
        installed(object('ServiceAccount', 'sa')),
        installed(pvc),
        ...[1, 2, 3].map((revision) =>
          storedRelease(
            { revision, status: revision === 3 ? 'deployed' : 'superseded', manifest },
            driver,
            packing,
          ),
        ),
        uninstalls(),
      ]);
      await scene.when.timePasses(minutes(1));
      const kind = driver === 'secret' ? 'secrets' : 'configmaps';
      expect(deleted(scene)).toEqual([
        'services/svc2',
        'services/svc',
        'pods/p1',
        'pods/p2',
        'configmaps/m1',
        'configmaps/m4',
        'configmaps/m2',
        'configmaps/m3',
        'secrets/s1',
        'secrets/s2',
        'serviceaccounts/sa',
        ...[1, 2, 3].map((revision) => `${kind}/sh.helm.release.v1.shop.v${revision}`),
        'cleaners/c',
      ]);
      expect(deleted(scene).map(kindOf)).toEqual([
        ...Array(2).fill('services'),
        ...Array(2).fill('pods'),
        ...Array(4).fill('configmaps'),
        ...Array(2).fill('secrets'),
        'serviceaccounts',
        ...Array(3).fill(kind),
        'cleaners',
      ]);
      expect(
        deleted(scene)
          .slice(-4, -1)
          .map((name) => name.slice(-1)),
      ).toEqual(['1', '2', '3']);
      await scene.then.exists('persistentvolumeclaim/pvc');
    },
  );
  const kindOf = (text: string) => text.split('/')[0];
});

describe('28. what is kept', () => {
  scenario('a release that does not exist counts as uninstalled', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), uninstalls({ targets: [target('a', 'a', { delete: true })] })]);
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('configmap/a');
    await scene.then.isGone('cleaner/c');
  });

  scenario(
    'a kind that no longer exists does not block; objects elsewhere are deleted, and the Event lists what is left',
    async (scene) => {
      begin(scene, { helm: { purgeIncomplete: true } });
      const manifest = [
        'apiVersion: gone.example.com/v1\nkind: Gone\nmetadata: {name: g}\n',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../secrets/db}\n',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: foreign, namespace: elsewhere}\n',
        'apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: wide}\n',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unowned}\n',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other-release}\n',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept-live}\n',
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owned}\n',
      ].join('---\n');
      const live = installed(configMap('kept-live'));
      live.metadata.annotations!['helm.sh/resource-policy'] = 'keep';
      await scene.given.object([
        namespaceOf('elsewhere'),
        installed(volume('wide')),
        installed(configMap('foreign', undefined, { namespace: 'elsewhere' })),
        configMap('unowned'),
        installed(configMap('other-release'), { name: 'another', namespace: 'default' }),
        live,
        installed(configMap('owned')),
        ...release({ manifest }),
        uninstalls(),
      ]);
      await scene.when.timePasses(minutes(1));
      expect(deleted(scene)).toEqual([
        'persistentvolumes/wide',
        'configmaps/foreign',
        'configmaps/owned',
        record(1).replace('secret/', 'secrets/'),
        'cleaners/c',
      ]);
      const [event] = (await eventsOf(scene)).filter(({ reason }) => reason === 'HelmReleaseUninstalled');
      for (const left of ['unowned (not owned', 'other-release (not owned', 'kept-live (keep)'])
        expect(event?.note).toContain(left);
      expect(event?.type).toBe('Warning');
    },
  );

  scenario('helm.delete: false has no effect at all', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a'),
      installed(configMap('m')),
      ...release({ manifest: document('ConfigMap', 'm') }),
      cleaner({ ttl: '1m', helm: { release: 'shop' }, targets: [target('a', 'a', { delete: true })] }),
    ]);
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('cleaner/c');
    await scene.then.exists('configmap/m');
    await scene.then.exists(record(1));
    const asked = scene.then.requests(
      ({ resource, namespace }) => resource === 'secrets' && namespace === 'default',
    );
    expect(asked).toEqual([]);
  });

  scenario('a failed upgrade: objects of the last deployed revision are deleted too', async (scene) => {
    begin(scene);
    await scene.given.object([
      installed(configMap('old')),
      installed(configMap('new')),
      ...release(
        { revision: 1, status: 'deployed', manifest: document('ConfigMap', 'old') },
        { revision: 2, status: 'failed', manifest: document('ConfigMap', 'new') },
      ),
      uninstalls(),
    ]);
    await scene.when.timePasses(minutes(1));
    for (const ref of ['configmap/old', 'configmap/new', record(1), record(2)]) await scene.then.isGone(ref);
  });

  scenario(
    '30. a chart that contains its own Cleaner: the Cleaner is deleted last, after the records',
    async (scene) => {
      begin(scene);
      const self = 'apiVersion: cleaner.vtex.dev/v1alpha\nkind: Cleaner\nmetadata: {name: c}\n---\n';
      const mine = uninstalls();
      await scene.given.object([
        installed(configMap('m')),
        ...release({ manifest: self + document('ConfigMap', 'm') }),
        installed(mine),
      ]);
      await scene.when.timePasses(minutes(1));
      expect(deleted(scene)).toEqual(['configmaps/m', 'secrets/sh.helm.release.v1.shop.v1', 'cleaners/c']);
    },
  );
});
