// Cleaners and Helm releases: what is deleted, what is kept, when records are purged, and what stops an uninstall.

import { formatTime, hours, instant, minutes, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import type { RequestInfo } from '@lapse/simulation/requestInfo';
import { document, installed, type ReleaseFixture, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { begin, cleaner, configMap, ready, reasonOf, statusOf, target } from './kit.ts';

const record = (revision: number): string => `secret/sh.helm.release.v1.shop.v${revision}`;
const uninstalls = (more = {}) => cleaner({ ttl: '1m', helm: { release: 'shop', delete: true }, ...more });
const deleted = ({ then }: Scene): string[] =>
  then
    .requests('DELETE')
    .filter(({ status }) => status === 200)
    .map(({ resource, name }) => `${resource}/${name}`);
const eventsOf = async ({ then }: Scene) => then.events('cleaner/c');
const release = (...given: ReleaseFixture[]) => given.map((one) => storedRelease(one));
const keep = '  annotations:\n    helm.sh/resource-policy: keep\n';
const ns = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const object = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'default' },
  ...more,
});
const volume = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
});
const pod = (name: string) => object('Pod', name, { spec: { containers: [{ name: 'c', image: 'i' }] } });
const service = (name: string) => object('Service', name, { spec: { ports: [{ port: 80 }] } });

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
        ns('elsewhere'),
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

describe('29. what stops an uninstall', () => {
  const simple = async (scene: Scene, more: ReleaseFixture = {}, spec = {}, options = {}) => {
    begin(scene, options);
    await scene.given.object([
      installed(configMap('m1')),
      installed(configMap('m2')),
      ...release({ manifest: document('ConfigMap', 'm1') + document('ConfigMap', 'm2'), ...more }),
      uninstalls(spec),
    ]);
  };

  scenario(
    'one refused DELETE: the other objects are deleted, the records are kept, and the DELETE is retried',
    async (scene) => {
      await simple(scene);
      scene.when.serverAnswers('delete configmaps m1', 403);
      await scene.when.timePasses(minutes(1));
      await scene.then.exists('configmap/m1');
      await scene.then.isGone('configmap/m2');
      await scene.then.exists(record(1));
      expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'HelmUninstallIncomplete' });
      await scene.when.timePasses(minutes(5));
      await scene.then.isGone('configmap/m1');
      await scene.then.isGone(record(1));
      await scene.then.isGone('cleaner/c');
    },
  );

  scenario('all DELETEs refused: nothing has begun, so the decision is made again', async (scene) => {
    await simple(
      scene,
      {},
      {
        targets: [target('m', 'gate', { include: true })],
        conditions: ['has(m.metadata.labels)'],
        retry: { period: '10m' },
      },
    );
    await scene.given.object(configMap('gate', { open: 'yes' }));
    scene.when.serverAnswers('delete configmaps', 403, { times: 2 });
    await scene.when.timePasses(minutes(1));
    expect(await ready(scene)).toMatchObject({
      reason: 'HelmUninstallIncomplete',
      message: expect.stringContaining('the release record is unchanged: nothing was deleted'),
    });
    expect((await statusOf(scene)).deletion).toBeUndefined();
    expect((await scene.then.object(record(1))).metadata.labels?.status).toBe('deployed');
    await scene.when.user.patch('configmap/gate', { metadata: { labels: { open: null } } });
    await scene.when.timePasses(minutes(30));
    await scene.then.exists('configmap/m1');
    expect(await reasonOf(scene)).toBe('WaitingForConditions');
  });

  scenario('a recent pending operation: the Cleaner waits for it', async (scene) => {
    const lastDeployed = formatTime(instant(VIRTUAL_START));
    await simple(scene, { status: 'pending-upgrade', lastDeployed });
    await scene.when.timePasses(minutes(9));
    expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'HelmOperationInProgress' });
    await scene.then.exists('configmap/m1');
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(
      formatTime(instant(VIRTUAL_START + minutes(10))),
    );
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('configmap/m1');
  });

  scenario(
    'a revision that appears during the uninstall: no purge, a report, and a new decision',
    async (scene) => {
      await simple(scene);
      const upgrade = storedRelease({ revision: 2, manifest: document('ConfigMap', 'm1') });
      scene.when.justBefore('delete configmaps m2', async () => {
        await scene.when.user.create(upgrade);
      });
      await scene.when.timePasses(minutes(1));
      expect(await ready(scene)).toMatchObject({
        reason: 'HelmUninstallFailed',
        message: expect.stringContaining('revision 2 appeared'),
      });
      await scene.then.exists(record(1));
      await scene.then.exists(record(2));
      await scene.then.exists('cleaner/c');
      expect((await statusOf(scene)).deletion).toBeUndefined();
    },
  );

  scenario('an unreadable payload is reported, and nothing is deleted', async (scene) => {
    begin(scene);
    const forged = storedRelease({ manifest: document('ConfigMap', 'm') });
    forged.data = { release: Buffer.from('AAAA').toString('base64') };
    await scene.given.object([installed(configMap('m')), forged, uninstalls()]);
    await scene.when.timePasses(minutes(10));
    expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'HelmUninstallFailed' });
    await scene.then.exists('configmap/m');
  });
});

scenario('a Cleaner that is deleted during its uninstall deletes nothing more', async (scene) => {
  begin(scene);
  const names = ['m1', 'm2', 'm3'];
  await scene.given.object([
    ...names.map((name) => installed(configMap(name))),
    ...release({ manifest: names.map((name) => document('ConfigMap', name)).join('') }),
    uninstalls(),
  ]);
  const notesBegin = ({ resource, body }: RequestInfo) =>
    resource === 'cleaners' && body !== undefined && Buffer.from(body).includes('startedAt');
  scene.when.justBefore(notesBegin, () => scene.when.user.delete('cleaner/c'));
  await scene.when.timePasses(minutes(10));
  await scene.then.isGone('cleaner/c');
  expect(deleted(scene)).toEqual(['configmaps/m1']);
  await scene.then.exists(record(1));
});

describe('hooks', () => {
  const jobManifest = (name: string, annotations = '') =>
    `apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: ${name}\n${annotations}spec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: c, image: i}]\n`;
  const hook = (name: string, more: object = {}) => ({
    name,
    kind: 'Job',
    path: `shop/templates/${name}.yaml`,
    manifest: jobManifest(name),
    events: ['pre-delete'],
    weight: 0,
    delete_policies: [],
    ...more,
  });
  const finish = async (scene: Scene, name: string, type: 'Complete' | 'Failed') => {
    const time = formatTime(scene.now());
    const met = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    await scene.when.user.status(`job/${name}`, {
      startTime: time,
      ...(type === 'Complete' ? { completionTime: time } : {}),
      conditions: [met, type].map((one) => ({
        type: one,
        status: 'True',
        lastTransitionTime: time,
        lastProbeTime: time,
        reason: 'x',
      })),
    });
    await scene.when.timePasses(seconds(2));
  };
  const given = async (scene: Scene, hooks: readonly object[], configuration: object = {}) => {
    begin(scene, configuration);
    await scene.given.object([
      installed(configMap('m')),
      ...release({ manifest: document('ConfigMap', 'm'), hooks }),
      uninstalls(),
    ]);
    await scene.when.timePasses(minutes(1));
  };

  scenario('are not run if the operator skips them', async (scene) => {
    await given(scene, [hook('before')], { helm: { hooks: 'skip' } });
    expect(scene.then.requests('create jobs')).toEqual([]);
    await scene.then.isGone('configmap/m');
  });

  scenario(
    'run by weight, one after the other, before and after, and are deleted as their policies say',
    async (scene) => {
      await given(scene, [
        hook('second', { weight: 5, delete_policies: ['hook-succeeded'] }),
        hook('first', { weight: -5 }),
        hook('after', { events: ['post-delete'], delete_policies: ['hook-succeeded'] }),
      ]);
      await scene.then.exists('job/first');
      await scene.then.isGone('job/second');
      await scene.then.exists('configmap/m');
      await finish(scene, 'first', 'Complete');
      await scene.then.exists('job/second');
      await scene.then.exists('configmap/m');
      await finish(scene, 'second', 'Complete');
      await scene.then.isGone('configmap/m');
      await scene.then.isGone('job/second');
      await scene.then.exists('job/after');
      await scene.then.exists(record(1));
      await finish(scene, 'after', 'Complete');
      await scene.then.isGone('job/after');
      await scene.then.isGone(record(1));
      await scene.then.isGone('cleaner/c');
      await scene.then.exists('job/first');
    },
  );

  scenario(
    'a failed pre-delete hook aborts: nothing is deleted, and the failure is reported',
    async (scene) => {
      await given(scene, [hook('before', { delete_policies: ['hook-failed'] })]);
      await finish(scene, 'before', 'Failed');
      await scene.then.exists('configmap/m');
      await scene.then.exists(record(1));
      expect(await ready(scene)).toMatchObject({
        reason: 'HelmUninstallFailed',
        message: expect.stringContaining('hook Job/before'),
      });
      await scene.then.isGone('job/before');
    },
  );

  scenario('a hook that never finishes fails at its time limit', async (scene) => {
    await given(scene, [hook('before')], { helm: { hookTimeout: '2m' } });
    await scene.when.timePasses(minutes(2));
    expect(await ready(scene)).toMatchObject({
      reason: 'HelmUninstallFailed',
      message: expect.stringContaining('in time'),
    });
    await scene.then.exists('configmap/m');
  });

  scenario(
    'an object of an earlier run is replaced; after a crash the controller waits for the hook and does not run it again',
    async (scene) => {
      begin(scene);
      const old = {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'before', namespace: 'default' },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
      };
      await scene.given.object([
        old,
        installed(configMap('m')),
        ...release({ manifest: document('ConfigMap', 'm'), hooks: [hook('before')] }),
        uninstalls(),
      ]);
      const before = (await scene.then.object('job/before')).metadata.uid;
      await scene.when.timePasses(minutes(1));
      await scene.when.timePasses(seconds(3));
      const uid = (await scene.then.object('job/before')).metadata.uid;
      expect(uid).not.toBe(before);
      await scene.when.processCrashes({ downFor: seconds(10) });
      await scene.when.timePasses(seconds(3));
      expect((await scene.then.object('job/before')).metadata.uid).toBe(uid);
      await finish(scene, 'before', 'Complete');
      await scene.then.isGone('configmap/m');
      expect(scene.then.requests('create jobs')).toHaveLength(1);
    },
  );

  scenario.each<{ policies: readonly string[] }>(
    {
      'a foreign object with the name of a hook that is deleted on failure': {
        policies: ['hook-failed'],
      },
      'a foreign object with the name of a hook that is deleted on success': {
        policies: ['hook-succeeded', 'hook-failed'],
      },
    },
    async (scene, { policies }) => {
      begin(scene);
      const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: before}\n';
      await scene.given.object([
        configMap('before'),
        installed(configMap('m')),
        ...release({
          manifest: document('ConfigMap', 'm'),
          hooks: [hook('before', { kind: 'ConfigMap', manifest, delete_policies: policies })],
        }),
        uninstalls(),
      ]);
      await scene.when.timePasses(minutes(30));
      expect(await ready(scene)).toMatchObject({
        reason: 'HelmUninstallFailed',
        message: expect.stringContaining('before exists already'),
      });
      await scene.then.exists('configmap/before');
      await scene.then.exists('configmap/m');
    },
  );

  scenario('a hook does not run again when the Cleaner is changed meanwhile', async (scene) => {
    const manifest = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: before}\n';
    const before = hook('before', { kind: 'ConfigMap', manifest, delete_policies: ['hook-succeeded'] });
    begin(scene);
    await scene.given.object([
      installed(configMap('m')),
      ...release({ manifest: document('ConfigMap', 'm'), hooks: [before] }),
      uninstalls(),
    ]);
    const isHook = ({ verb, resource }: RequestInfo) => verb === 'create' && resource === 'configmaps';
    scene.when.justBefore(isHook, () =>
      scene.when.user.patch('cleaner/c', { metadata: { labels: { a: 'b' } } }),
    );
    // Stops the controller if it reconciles in an endless loop.
    let writes = 0;
    const isTooMuch = ({ verb, resource }: RequestInfo) =>
      verb === 'patch' && resource === 'cleaners' && ++writes > 20;
    scene.when.serverAnswers(isTooMuch, 500, { times: 100 });
    await scene.when.timePasses(minutes(2));
    expect(writes).toBeLessThan(10);
    expect(scene.then.requests(isHook)).toHaveLength(1);
    await scene.then.isGone('configmap/m');
    await scene.then.isGone('configmap/before');
    await scene.then.isGone('cleaner/c');
  });

  scenario(
    'a hook that would create RBAC objects, or objects in other namespaces, is refused',
    async (scene) => {
      const binding =
        'apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: root}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n';
      await given(scene, [hook('root', { kind: 'RoleBinding', manifest: binding })]);
      expect(await ready(scene)).toMatchObject({
        reason: 'HelmUninstallFailed',
        message: expect.stringContaining(
          'RoleBinding may not be made by a hook; to uninstall without hooks, set',
        ),
      });
      await scene.then.isGone('rolebinding/root');
      await scene.then.exists('configmap/m');
    },
  );
});

scenario('the release stays deleted hours later', async (scene) => {
  begin(scene);
  await scene.given.object([
    installed(configMap('m')),
    ...release({ manifest: document('ConfigMap', 'm') }),
    uninstalls(),
  ]);
  await scene.when.timePasses(hours(3));
  expect(deleted(scene)).toHaveLength(3);
});
