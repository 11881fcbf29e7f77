// What stops the uninstall of a Helm release.

import { formatTime, instant, minutes } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { RequestInfo } from '@lapse/simulation/requestInfo';
import { document, installed, type ReleaseFixture, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { deleted, record, release, uninstalls } from './helmKit.ts';
import { begin, configMap, ready, reasonOf, statusOf, target } from './kit.ts';

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

scenario('a Cleaner that is deleted before its first deletion deletes nothing', async (scene) => {
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
  expect(deleted(scene)).toEqual([]);
  await scene.then.exists(record(1));
});
