// The hooks of a Helm release that a Cleaner uninstalls.

import { formatTime, hours, minutes, seconds } from '@lapse/base/instant';
import type { RequestInfo } from '@lapse/simulation/requestInfo';
import { document, installed } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { deleted, record, release, uninstalls } from './helmKit.ts';
import { begin, configMap, ready } from './kit.ts';

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
