// An author with few rights gains none through a Cleaner.

import { hours, minutes, seconds } from '@lapse/base/instant';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, ready, reasonOf, statusOf, target } from './kit.ts';
import { secret } from './rightsKit.ts';

describe('attacks', () => {
  scenario('1. a Namespace, a ClusterRole: no Cleaner reaches beyond its namespace', async (scene) => {
    begin(scene);
    for (const reference of [
      { kind: 'namespace', name: 'kube-system' },
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'clusterrole', name: 'admin' },
    ])
      await expect(
        scene.given.object(cleaner({ targets: [{ name: 'x', reference, delete: true }] })),
      ).rejects.toThrow(/namespaced|may not be targets/);
  });

  scenario(
    '3. a forged release deletes nothing that lacks the labels and annotations of Helm, and creates nothing',
    async (scene) => {
      begin(scene);
      const hook = {
        name: 'h',
        kind: 'ClusterRoleBinding',
        events: ['pre-delete'],
        manifest:
          'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: root}\n',
      };
      await scene.given.object([
        configMap('precious'),
        secret('database', { password: 'x' }),
        storedRelease({
          name: 'forged',
          manifest: document('ConfigMap', 'precious') + document('Secret', 'database'),
        }),
        storedRelease({ name: 'rooted', manifest: '', hooks: [hook] }),
        cleaner({ ttl: '0s', helm: { release: 'forged', delete: true } }),
        cleaner({ ttl: '0s', helm: { release: 'rooted', delete: true } }, { name: 'r' }),
      ]);
      await scene.when.timePasses(minutes(1));
      await scene.then.exists('configmap/precious');
      await scene.then.exists('secret/database');
      await scene.then.isGone('clusterrolebinding/root');
      expect(await reasonOf(scene, 'cleaner/r')).toBe('HelmUninstallFailed');
    },
  );

  scenario('3. a Secret that only has the labels of a release is neither read nor purged', async (scene) => {
    begin(scene);
    await scene.given.object([
      secret('database', { release: 'x' }, { labels: { name: 'shop', owner: 'helm' } }),
      installed(configMap('m')),
      storedRelease({ manifest: document('ConfigMap', 'm') }),
      cleaner({ ttl: '0s', helm: { release: 'shop', delete: true } }),
    ]);
    await scene.then.isGone('cleaner/c');
    await scene.then.exists('secret/database');
  });

  scenario('4. a decision preset in status when it is created has no effect', async (scene) => {
    begin(scene);
    await scene.given.object(configMap('a'));
    const { uid = '' } = (await scene.then.object('configmap/a')).metadata;
    const { user } = await scene.simulation();
    const deletion = {
      generation: 1,
      evaluatedAt: '2026-01-01T00:00:00Z',
      targets: [{ group: '', version: 'v1', resource: 'configmaps', name: 'a', uid }],
    };
    const preset = { ...cleaner({ ttl: '100h' }), status: { deletion } };
    await user.create(
      {
        group: 'cleaner.vtex.dev',
        version: 'v1alpha',
        kind: 'Cleaner',
        resource: 'cleaners',
        namespaced: true,
      },
      preset,
    );
    await scene.when.timePasses(hours(1));
    await scene.then.exists('configmap/a');
    expect(await reasonOf(scene)).toBe('NotExpired');
  });

  scenario(
    '4. a record that claims rights is not executed, even from a holder of cleaners/status',
    async (scene) => {
      begin(scene);
      const role = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r', namespace: 'default' },
        rules: [],
      };
      await scene.given.object([role, cleaner({ ttl: '100h' })]);
      const { uid = '' } = (await scene.then.object('role/r')).metadata;
      for (const forged of [
        { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles', name: 'r', uid },
        {
          group: '',
          version: 'v1',
          resource: 'configmaps/../../apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
          name: 'r',
          uid,
        },
      ]) {
        await scene.when.user.status('cleaner/c', {
          deletion: { generation: 1, evaluatedAt: '2026-01-01T00:00:00Z', targets: [forged] },
        });
        await scene.when.processRestarts();
        await scene.when.timePasses(seconds(30));
        await scene.then.exists('role/r');
        expect((await statusOf(scene)).deletion).toBeUndefined();
      }
      expect(scene.then.requests('delete roles')).toEqual([]);
    },
  );

  scenario(
    '6. a period of one second causes at most one write per second, and problems are reported once',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        configMap('a'),
        cleaner({
          ttl: '0s',
          targets: [target('a', 'a', { include: true })],
          conditions: ['a.nothing.at == 1'],
          retry: { period: '1s' },
        }),
      ]);
      const before = scene.then.writes().length;
      await scene.when.timePasses(seconds(60));
      expect(scene.then.writes().length - before).toBeLessThanOrEqual(61);
      expect(await scene.then.events('cleaner/c')).toHaveLength(1);
      expect(await ready(scene)).toMatchObject({ reason: 'ConditionError' });
    },
  );
});
