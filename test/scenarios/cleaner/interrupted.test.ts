// Events while a decision is carried out: users edit or delete the Cleaner, releases are upgraded, and answers are
// lost.

import { formatTime, hours, minutes, seconds } from '@lapse/base/instant';
import type { Matcher } from '@lapse/simulation/requestInfo';
import type { CleanerSpec } from 'lapse/api/cleaner';
import { document, installed, type ReleaseFixture, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { begin, cleaner, configMap, ready, reasonOf, statusOf, target } from './kit.ts';

const five = ['m1', 'm2', 'm3', 'm4', 'm5'];
const HELM = { release: 'shop', delete: true };
const manifestOf = (names: readonly string[]): string =>
  names.map((name) => document('ConfigMap', name)).join('');
const deleted = ({ then }: Scene): string[] =>
  then
    .requests('DELETE')
    .filter(({ status }) => status === 200)
    .map(({ resource, name }) => `${resource}/${name}`);
const notesBegin: Matcher = ({ subresource, body }) =>
  subresource === 'status' && Buffer.from(body ?? []).includes('startedAt');

async function givenRelease(scene: Scene, names: readonly string[], more: Partial<CleanerSpec> = {}) {
  begin(scene);
  await scene.given.object([
    ...names.map((name) => installed(configMap(name))),
    storedRelease({ manifest: manifestOf(names) }),
    cleaner({ ttl: '1m', helm: HELM, ...more }),
  ]);
}

/** A target that conditions read, and a release. */
async function givenBoth(scene: Scene) {
  await givenRelease(scene, ['m1'], {
    targets: [target('a', 'a', { delete: true, include: true })],
    conditions: ['a.metadata.name == "a"'],
    retry: { period: '1m' },
  });
  await scene.given.object(configMap('a'));
}

/** Three revisions of a release without objects. */
async function givenRecords(scene: Scene) {
  begin(scene);
  const revisions: ReleaseFixture[] = [1, 2, 3].map((revision) => ({
    revision,
    manifest: '',
    status: revision === 3 ? 'deployed' : 'superseded',
  }));
  await scene.given.object([
    ...revisions.map((one) => storedRelease(one)),
    cleaner({ ttl: '1m', helm: HELM }),
  ]);
}

describe('a Cleaner that is deleted during a reconcile deletes nothing more', () => {
  scenario('of its targets', async (scene) => {
    begin(scene);
    await scene.given.object([
      ...five.map((name) => configMap(name)),
      cleaner({ ttl: '1m', targets: five.map((name) => target(name, name, { delete: true })) }),
    ]);
    scene.when.justBefore('delete configmaps m2', () => scene.when.user.delete('cleaner/c'));
    scene.when.serverIsSlow(seconds(1));
    await scene.when.timePasses(minutes(3));
    expect(deleted(scene)).toEqual(['configmaps/m1', 'configmaps/m2']);
    await scene.then.exists('configmap/m3');
  });

  scenario('of its release', async (scene) => {
    await givenRelease(scene, five);
    scene.when.justBefore('delete configmaps m2', () => scene.when.user.delete('cleaner/c'));
    scene.when.serverIsSlow(seconds(1));
    await scene.when.timePasses(minutes(3));
    expect(deleted(scene)).toEqual(['configmaps/m1', 'configmaps/m2']);
    await scene.then.exists('secret/sh.helm.release.v1.shop.v1');
  });

  scenario("of Helm's records", async (scene) => {
    await givenRecords(scene);
    scene.when.justBefore('delete secrets sh.helm.release.v1.shop.v2', () =>
      scene.when.user.delete('cleaner/c'),
    );
    scene.when.serverIsSlow(seconds(1));
    await scene.when.timePasses(minutes(3));
    expect(deleted(scene)).toEqual([1, 2].map((one) => `secrets/sh.helm.release.v1.shop.v${one}`));
  });
});

describe('an upgrade during an uninstall', () => {
  scenario('nothing more is deleted, not even the next object', async (scene) => {
    await givenRelease(scene, five);
    scene.when.justBefore('delete configmaps m2', async () => {
      await scene.when.user.create(storedRelease({ revision: 2, manifest: manifestOf(five) }));
      for (const name of five.slice(1))
        await scene.when.user.patch(`configmap/${name}`, { data: { v: '2' } });
    });
    await scene.when.timePasses(minutes(1));
    expect(deleted(scene)).toEqual(['configmaps/m1']);
    for (const name of five.slice(1)) await scene.then.exists(`configmap/${name}`);
    expect((await ready(scene)).message).toContain('revision 2 appeared');
  });

  scenario('no more records are purged', async (scene) => {
    await givenRecords(scene);
    scene.when.justBefore('delete secrets sh.helm.release.v1.shop.v1', async () => {
      await scene.when.user.create(storedRelease({ revision: 4, manifest: '' }));
    });
    await scene.when.timePasses(minutes(1));
    expect(deleted(scene)).toEqual(['secrets/sh.helm.release.v1.shop.v1']);
    expect((await ready(scene)).message).toContain('revision 4 appeared');
  });

  scenario('an object that another client only changes is read again and deleted', async (scene) => {
    await givenRelease(scene, ['m1']);
    scene.when.justBefore('delete configmaps m1', async () => {
      await scene.when.user.patch('configmap/m1', { data: { v: '2' } });
    });
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('configmap/m1');
    await scene.then.isGone('cleaner/c');
  });

  scenario('an object that gets the policy keep at the last moment is kept', async (scene) => {
    await givenRelease(scene, ['m1']);
    scene.when.justBefore('delete configmaps m1', async () => {
      const annotations = { 'helm.sh/resource-policy': 'keep' };
      await scene.when.user.patch('configmap/m1', { metadata: { annotations } });
    });
    await scene.when.timePasses(minutes(1));
    await scene.then.exists('configmap/m1');
    await scene.then.isGone('cleaner/c');
  });

  scenario(
    'a target of the conditions is deleted: the release is kept, and the Cleaner is deleted',
    async (scene) => {
      await givenBoth(scene);
      scene.when.justBefore('delete configmaps a', async () => {
        await scene.when.user.create(storedRelease({ revision: 2, manifest: manifestOf(['m1']) }));
      });
      await scene.when.timePasses(minutes(2));
      await scene.then.isGone('cleaner/c');
      await scene.then.exists('configmap/m1');
      await scene.then.exists('secret/sh.helm.release.v1.shop.v2');
      const told = (await scene.then.events('cleaner/c')).filter(
        ({ reason }) => reason === 'HelmReleaseLeft',
      );
      expect(told.map(({ note }) => note)).toEqual([expect.stringContaining('revision 2 appeared')]);
    },
  );
});

describe('a deletion that has begun', () => {
  scenario(
    'does not include objects that were terminating already: an edit before the first deletion still counts',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        configMap('x', undefined, { finalizers: ['example.com/hold'] }),
        configMap('y'),
        cleaner({ targets: ['x', 'y'].map((name) => target(name, name, { delete: true })) }),
      ]);
      await scene.when.user.delete('configmap/x');
      const simulation = await scene.simulation();
      scene.when.serverAnswers('delete configmaps', { drop: 'before' });
      scene.when.justBefore('delete configmaps', () => simulation.crash());
      await scene.when.timePasses(hours(1));
      expect((await statusOf(scene)).deletion?.targets.map(({ name }) => name)).toEqual(['y']);
      await scene.when.user.patch('cleaner/c', { spec: { ttl: '1000h' } });
      await scene.when.processRestarts();
      await scene.when.timePasses(minutes(1));
      await scene.then.exists('configmap/y');
      expect(await reasonOf(scene)).toBe('NotExpired');
    },
  );

  const lost: Readonly<Record<string, (scene: Scene) => void>> = {
    'the deletion was not recorded': ({ when }) => when.serverAnswers(notesBegin, 500),
    'the answer to the deletion was lost': ({ when }) =>
      when.serverAnswers('delete configmaps a', { drop: 'after' }),
  };
  for (const [name, happens] of Object.entries(lost))
    scenario(`is completed after a refusal, though ${name}`, async (scene) => {
      await givenBoth(scene);
      happens(scene);
      scene.when.serverAnswers('delete configmaps m1', 403, { times: 1 });
      await scene.when.timePasses(seconds(90));
      expect((await statusOf(scene)).deletion?.startedAt).toBeDefined();
      await scene.when.timePasses(minutes(10));
      await scene.then.isGone('configmap/m1');
      await scene.then.isGone('cleaner/c');
    });

  scenario(
    'completes even if another client removes the record just before the Cleaner is deleted',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        configMap('a'),
        cleaner({ ttl: '1m', targets: [target('a', 'a', { delete: true })] }),
      ]);
      scene.when.justBefore('delete cleaners c', async () => {
        await scene.when.user.status('cleaner/c', { deletion: null });
      });
      await scene.when.timePasses(minutes(10));
      await scene.then.isGone('cleaner/c');
    },
  );
});

scenario(
  'a failed hook runs again at the next attempt, though targets are deleted already',
  async (scene) => {
    begin(scene);
    const job = 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: before}\n';
    const spec = 'spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n';
    const hook = {
      name: 'before',
      kind: 'Job',
      path: 'shop/templates/before.yaml',
      manifest: job + spec,
      events: ['pre-delete'],
      weight: 0,
      delete_policies: ['before-hook-creation'],
    };
    await scene.given.object([
      configMap('a'),
      installed(configMap('m')),
      storedRelease({ manifest: manifestOf(['m']), hooks: [hook] }),
      cleaner({ ttl: '1m', targets: [target('a', 'a', { delete: true })], helm: HELM }),
    ]);
    await scene.when.timePasses(minutes(1));
    const { uid } = (await scene.then.object('job/before')).metadata;
    const time = formatTime(scene.now());
    await scene.when.user.status('job/before', {
      startTime: time,
      conditions: ['FailureTarget', 'Failed'].map((type) => ({
        type,
        status: 'True',
        lastTransitionTime: time,
        lastProbeTime: time,
        reason: 'x',
      })),
    });
    await scene.when.timePasses(minutes(1));
    expect((await ready(scene)).message).toContain('hook Job/before');
    await scene.when.timePasses(minutes(6));
    expect((await scene.then.object('job/before')).metadata.uid).not.toBe(uid);
  },
);

describe('Events are emitted once, and are correct', () => {
  const told = async ({ then }: Scene) =>
    (await then.events('cleaner/c'))
      .filter(({ reason }) => reason === 'HelmReleaseUninstalled')
      .map(({ note, series }) => [note, series?.count]);

  scenario(
    'report the number of deleted objects of the release, after any number of attempts',
    async (scene) => {
      await givenRelease(scene, ['m1', 'm2']);
      scene.when.serverAnswers('delete configmaps m2', 500, { times: 1 });
      await scene.when.timePasses(minutes(2));
      expect(await told(scene)).toEqual([
        ['the release shop was uninstalled, 2 objects are gone', undefined],
      ]);
    },
  );

  scenario(
    'report the uninstall once, however often the deletion of the Cleaner is refused',
    async (scene) => {
      await givenRelease(scene, ['m1']);
      scene.when.serverAnswers('delete cleaners c', 403, { times: 1000 });
      await scene.when.timePasses(hours(1));
      expect(await told(scene)).toEqual([['the release shop was uninstalled, 1 object is gone', undefined]]);
      await scene.when.faultsEnd();
      await scene.when.timePasses(hours(1));
      await scene.then.isGone('cleaner/c');
    },
  );
});

describe('every deletion is counted once', () => {
  const count = async (scene: Scene, what: string): Promise<number> => {
    const text = (await scene.simulation()).registry.text();
    return Number(new RegExp(`^lapse_cleaner_deleted_total\\{what="${what}"\\} (.*)$`, 'm').exec(text)?.[1]);
  };
  const counts = async (scene: Scene) => ({
    targets: await count(scene, 'target'),
    objects: await count(scene, 'release object'),
    records: await count(scene, 'release record'),
    cleaners: await count(scene, 'cleaner'),
  });

  scenario('with all answers', async (scene) => {
    await givenBoth(scene);
    await scene.when.timePasses(minutes(2));
    expect(await counts(scene)).toEqual({ targets: 1, objects: 1, records: 1, cleaners: 1 });
  });

  scenario('although every answer is lost once', async (scene) => {
    await givenBoth(scene);
    for (const one of ['configmaps a', 'configmaps m1', 'secrets', 'cleaners c'])
      scene.when.serverAnswers(`delete ${one}`, { drop: 'after' }, { times: 1 });
    await scene.when.timePasses(minutes(5));
    await scene.then.isGone('cleaner/c');
    expect(await counts(scene)).toEqual({ targets: 1, objects: 1, records: 1, cleaners: 1 });
  });
});
