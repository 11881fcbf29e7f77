// A Cleaner that uninstalls a Helm release: the plan names the objects of the release, Helm's records and the Cleaner,
// and nothing else. Exactly these are deleted afterwards.

import { formatTime, hours, instant, minutes, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { begin, cleaner, configMap } from './cleaner/kit.ts';
import { planOf } from './planRound.ts';
import { scenario } from './scenario.ts';

const keep = '  annotations:\n    helm.sh/resource-policy: keep\n';
const manifest = [
  document('ConfigMap', 'settings'),
  document('ConfigMap', 'kept', keep),
  document('ConfigMap', 'never-made'),
].join('');
const objects = (status: string, more: object = {}): KubeObject[] => [
  installed(configMap('settings')),
  installed(configMap('kept')),
  storedRelease({ revision: 1, status: 'superseded', manifest }),
  storedRelease({ revision: 2, status, manifest, ...more }),
  cleaner({ ttl: '10m', helm: { release: 'shop', delete: true } }),
];

scenario('the objects of a release are planned and deleted', async (scene) => {
  begin(scene);
  await scene.given.object(objects('deployed'));
  const simulation = await scene.simulation();
  const { deletions, held } = await planOf(simulation, hours(1));
  const planned = deletions.map(
    ({ object, at }) => `${object.kind} ${object.name} +${(at - VIRTUAL_START) / 60_000}`,
  );
  expect(planned.sort()).toEqual([
    'Cleaner c +10',
    'ConfigMap settings +10',
    'Secret sh.helm.release.v1.shop.v1 +10',
    'Secret sh.helm.release.v1.shop.v2 +10',
  ]);
  expect(held).toEqual([]);
  await scene.when.timePasses(minutes(10));
  const gone = scene.then
    .requests('DELETE')
    .filter(({ status }) => status === 200)
    .map(({ name }) => name!);
  expect(gone.sort()).toEqual(deletions.map(({ object }) => object.name).sort());
});

scenario('a release that is being upgraded is held until the upgrade is over', async (scene) => {
  begin(scene);
  const lastDeployed = formatTime(instant(VIRTUAL_START + seconds(300)));
  await scene.given.object(objects('pending-upgrade', { lastDeployed }));
  const { deletions, held } = await planOf(await scene.simulation(), hours(1));
  expect(deletions).toEqual([]);
  expect(held.map(({ object, because, until }) => [object.kind, because, until])).toEqual([
    ['Cleaner', expect.stringContaining('the release shop is pending-upgrade'), VIRTUAL_START + minutes(15)],
  ]);
});

scenario('a release with objects and without a record is held, not planned as uninstalled', async (scene) => {
  begin(scene);
  const uninstalls = cleaner({ ttl: '10m', helm: { release: 'shop', delete: true } });
  await scene.given.object([installed(configMap('settings')), uninstalls]);
  const { deletions, held } = await planOf(await scene.simulation(), hours(1));
  expect(deletions).toEqual([]);
  expect(held.map(({ object, because }) => [object.kind, because])).toEqual([
    ['Cleaner', expect.stringContaining("Helm's SQL storage driver is not supported")],
  ]);
});

scenario('an object that the release does not own keeps its records and the Cleaner', async (scene) => {
  begin(scene);
  const more = { manifest: manifest + document('ConfigMap', 'other') };
  await scene.given.object([configMap('other'), ...objects('deployed', more)]);
  const { deletions, held } = await planOf(await scene.simulation(), hours(1));
  expect(deletions.map(({ object }) => object.name)).toEqual(['settings']);
  expect(held.map(({ object }) => object.kind).sort()).toEqual(['Cleaner', 'Secret', 'Secret']);
  for (const { because } of held)
    expect(because).toContain(
      'the release is not uninstalled completely, left: ConfigMap/other (not owned by the release)',
    );
  await scene.when.timePasses(minutes(10));
  await scene.then.isGone('configmap/settings');
  const later = await planOf(await scene.simulation(), hours(1));
  expect(later.deletions).toEqual([]);
  expect(later.held).toMatchObject([{ object: { kind: 'Cleaner' }, until: VIRTUAL_START + minutes(15) }]);
});

describe('rights of the author, read from the roles and bindings of the cluster', () => {
  const RBAC = 'rbac.authorization.k8s.io';
  const role = (kind: string, name: string, more: object): KubeObject => ({
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata: { name, ...(kind.startsWith('Cluster') ? {} : { namespace: 'default' }) },
    ...more,
  });
  const bind = (kind: string, name: string, to: string) =>
    role(kind, name, {
      roleRef: { apiGroup: RBAC, kind: kind.replace('Binding', ''), name: to },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'alice' }],
    });
  const rule = (group: string, resource: string) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: ['delete', 'list'],
  });
  const author = JSON.stringify({ username: 'alice', groups: ['system:authenticated'], seal: 'x' });
  const wide = (name: string) => installed(role('ClusterRole', name, { rules: [] }));
  const release = [
    document('ConfigMap', 'settings'),
    ...['web', 'admin'].map(
      (name) => `---\napiVersion: ${RBAC}/v1\nkind: ClusterRole\nmetadata: {name: ${name}}\n`,
    ),
  ].join('');

  scenario('a cluster-scoped object is planned only if the author may delete it', async (scene) => {
    begin(scene);
    const uninstalls = cleaner(
      { ttl: '10m', helm: { release: 'shop', delete: true } },
      { annotations: { 'lapse.dev/author': author } },
    );
    await scene.given.object([
      role('Role', 'app', {
        rules: [rule('', 'configmaps'), rule('', 'secrets'), rule(RBAC, 'clusterroles')],
      }),
      bind('RoleBinding', 'app', 'app'),
      role('ClusterRole', 'web-only', { rules: [{ ...rule(RBAC, 'clusterroles'), resourceNames: ['web'] }] }),
      bind('ClusterRoleBinding', 'web-only', 'web-only'),
      installed(configMap('settings')),
      wide('web'),
      wide('admin'),
      storedRelease({ manifest: release }),
      uninstalls,
    ]);
    const { deletions, held } = await planOf(await scene.simulation(), hours(1), { actAs: 'author' });
    expect(deletions.map(({ object }) => object.name).sort()).toEqual(['settings', 'web']);
    expect(held.map(({ object }) => object.kind).sort()).toEqual(['Cleaner', 'ClusterRole', 'Secret']);
    expect(held.find(({ object }) => object.kind === 'ClusterRole')).toMatchObject({
      object: { name: 'admin' },
      because: `alice may not delete clusterroles.${RBAC} admin`,
    });
  });
});
