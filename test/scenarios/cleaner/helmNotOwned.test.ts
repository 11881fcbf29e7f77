// A Helm release with objects that it does not own: the other objects are deleted, and the records stay with status
// `uninstalling`.

import { formatTime, instant, minutes, plus, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import { document, installed, type ReleaseFixture, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { RECORD, readRelease, uninstalls } from './incomplete.ts';
import { begin, configMap, ready, statusOf } from './kit.ts';

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
