// A release with existing objects whose records are in no Secret and no ConfigMap: Helm's SQL storage driver.

import { minutes } from '@lapse/base/instant';
import { installed } from 'lapse/helm/release.testkit';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { begin, cleaner, configMap, ready, target } from './kit.ts';

const keep = { 'helm.sh/resource-policy': 'keep' };
const uninstalls = (more = {}) => cleaner({ ttl: '1m', helm: { release: 'shop', delete: true }, ...more });
const deletes = ({ then }: Scene): number => then.requests('DELETE').length;

scenario(
  'deletes nothing and reports the SQL driver when a release has objects but no record',
  async (scene) => {
    begin(scene);
    await scene.given.object([installed(configMap('m1')), configMap('other'), uninstalls()]);
    await scene.when.timePasses(minutes(10));
    expect(deletes(scene)).toBe(0);
    const condition = await ready(scene);
    expect(condition).toMatchObject({ status: 'False', reason: 'HelmDriverNotSupported' });
    expect(condition?.message).toContain('ConfigMap m1');
    expect(condition?.message).toContain("Helm's SQL storage driver is not supported");
    expect(condition?.message).toContain('helm uninstall shop -n default');
  },
);

scenario('keeps the targets too when they belong to a release without a record', async (scene) => {
  begin(scene);
  const targets = [target('a', 'm1', { delete: true })];
  await scene.given.object([installed(configMap('m1')), uninstalls({ targets })]);
  await scene.when.timePasses(minutes(10));
  expect(deletes(scene)).toBe(0);
  expect(await ready(scene)).toMatchObject({ reason: 'HelmDriverNotSupported' });
});

scenario(
  'does not take objects with the policy keep, or of other releases, for a sign of the SQL driver',
  async (scene) => {
    begin(scene);
    const kept = installed(configMap('kept'));
    const annotations = { ...kept.metadata.annotations, ...keep };
    await scene.given.object([
      { ...kept, metadata: { ...kept.metadata, annotations } },
      installed(configMap('m2'), { name: 'other', namespace: 'default' }),
      uninstalls(),
    ]);
    await scene.when.timePasses(minutes(2));
    await scene.then.isGone('cleaner/c');
    await scene.then.exists('configmap/kept');
  },
);
