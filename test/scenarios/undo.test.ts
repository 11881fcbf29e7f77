// Objects that a policy or Cleaner deleted are created again by `lapse undo`.

import { hours, minutes } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { stripObject } from 'lapse/checkpoint/restore/strip';
import type { CommandContext } from 'lapse/cli/commandContext';
import { listTrash, showRecord, verifyTrash } from 'lapse/cli/trash/list';
import { type UndoFlags, undo } from 'lapse/cli/undo/undo';
import { document, installed, storedRelease } from 'lapse/helm/release.testkit';
import { describe, expect } from 'vitest';
import { cleaner, configMap, target } from './cleaner/kit.ts';
import { finishedJob } from './kit.ts';
import { ttlPolicy } from './pipelineRuns.ts';
import { start } from './policyScenarios.ts';
import { scenario } from './scenario.ts';
import type { Scene } from './scene.ts';
import { savedRecords } from './trashKit.ts';

const previews = (kind = 'ConfigMap', apiVersion = 'v1') =>
  ttlPolicy('previews', {
    target: { apiVersion, kind },
    selector: { matchLabels: { preview: 'true' } },
    from: 'Created',
    ttl: '1h',
  });
const preview = (name: string, more: Partial<KubeObject['metadata']> = {}) =>
  configMap(name, { preview: 'true' }, more);

interface Said {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/** Runs a command as the user of the simulated cluster. */
async function asUser(
  scene: Scene,
  work: (commandContext: CommandContext) => Promise<number>,
): Promise<Said> {
  const { user, clock } = await scene.simulation();
  let out = '';
  let said = '';
  const code = await work({
    client: user,
    clock,
    namespace: 'default',
    colour: false,
    out: async (text) => {
      out += text;
    },
    say: (text) => {
      said += `${text}\n`;
    },
  });
  return { code, out, said };
}

const runUndo = (scene: Scene, object: string | undefined, flags: Partial<UndoFlags> = {}): Promise<Said> =>
  asUser(scene, (commandContext) => undo(commandContext, object, { output: 'text', yes: true, ...flags }));

/** Without server-set fields and the annotations of a restored object. */
function comparable(object: KubeObject): KubeObject {
  const stripped = stripObject(object);
  const {
    'lapse.dev/restored-at': _,
    'lapse.dev/ttl': __,
    ...annotations
  } = stripped.metadata.annotations ?? {};
  const { annotations: ___, ...metadata } = stripped.metadata;
  const kept = Object.keys(annotations).length === 0 ? {} : { annotations };
  return { ...stripped, metadata: { ...metadata, ...kept } };
}

describe('undo of a policy', () => {
  scenario('restores one object, and the policy keeps it', async (scene) => {
    const { given, when, then } = scene;
    start(given, { trash: {} });
    await given.object([previews(), { ...preview('a'), data: { x: 'y' } }]);
    const before = await then.object('configmap/a');
    await when.timePasses(hours(1));
    await then.isGone('configmap/a');
    const { code, out } = await runUndo(scene, 'configmap/a');
    expect(code).toBe(0);
    expect(out).toContain('1 object restored');
    const after = await then.object('configmap/a');
    expect(comparable(after)).toEqual(comparable(before));
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    await when.timePasses(hours(5));
    await then.exists('configmap/a');
  });

  scenario('deletes the object again after --ttl, if the policy allows it', async (scene) => {
    const { given, when, then } = scene;
    start(given, { trash: {} });
    await given.object([
      { ...previews(), spec: { ...(previews().spec as object), allowOverrides: true } },
      preview('a'),
    ]);
    await when.timePasses(hours(1));
    await runUndo(scene, 'configmap/a', { ttl: '48h' });
    await when.timePasses(hours(47));
    await then.exists('configmap/a');
    await when.timePasses(hours(1));
    await then.isGone('configmap/a');
  });

  scenario('rewrites owner references of objects that are restored together', async (scene) => {
    const { given, when, then } = scene;
    start(given, { trash: {} });
    await given.object([previews(), preview('owner')]);
    const { uid = '' } = (await then.object('configmap/owner')).metadata;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    const lost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'lost', uid: 'none' };
    await given.object(preview('owned', { ownerReferences: [reference, lost] }));
    await when.timePasses(hours(1));
    const { code, out } = await runUndo(scene, undefined, { since: '2h' });
    expect(code).toBe(0);
    expect(out).toContain('its owner ConfigMap lost does not exist and is removed');
    const owner = await then.object('configmap/owner');
    const owned = await then.object('configmap/owned');
    expect(owned.metadata.ownerReferences).toEqual([{ ...reference, uid: owner.metadata.uid }]);
  });

  scenario('never overwrites an object, except with --force', async (scene) => {
    const { given, when, then } = scene;
    start(given, { trash: {} });
    await given.object([previews(), { ...preview('a'), data: { x: 'old' } }]);
    await when.timePasses(hours(1));
    await given.object({ ...configMap('a'), data: { x: 'new' } });
    const { code, out } = await runUndo(scene, 'configmap/a', { diff: true });
    expect(code).toBe(0);
    expect(out).toContain('it exists; --force replaces it');
    expect(out).toContain('data.x: "new" → "old"');
    expect((await then.object('configmap/a')).data).toEqual({ x: 'new' });
    await runUndo(scene, 'configmap/a', { force: true });
    expect((await then.object('configmap/a')).data).toEqual({ x: 'old' });
  });

  scenario('skips finished Jobs, and says so by its exit code', async (scene) => {
    const { given, when, then } = scene;
    start(given, { trash: {} });
    await given.object([
      ttlPolicy('jobs', { target: { apiVersion: 'batch/v1', kind: 'Job' }, ttl: '1h' }),
      previews(),
      preview('a'),
      finishedJob('done', {}),
    ]);
    await when.timePasses(hours(1));
    await then.isGone('job/done');
    const { code, out } = await runUndo(scene, undefined, { since: '2h' });
    expect(code).toBe(3);
    expect(out).toContain('it has finished and would run again');
    await then.isGone('job/done');
    await then.exists('configmap/a');
    const suspended = await runUndo(scene, 'job/done', { suspended: true });
    expect(suspended.code).toBe(0);
    expect((await then.object('job/done')).spec).toMatchObject({ suspend: true });
  });

  scenario('changes nothing without --yes or with --dry-run', async (scene) => {
    const { given, when, then } = scene;
    start(given, { trash: {} });
    await given.object([previews(), preview('a')]);
    await when.timePasses(hours(1));
    expect((await runUndo(scene, 'configmap/a', { yes: false })).code).toBe(1);
    expect((await runUndo(scene, 'configmap/a', { dryRun: true })).code).toBe(0);
    const json = await runUndo(scene, 'configmap/a', { dryRun: true, output: 'json' });
    expect(JSON.parse(json.out)).toMatchObject({ carriedOut: false, plan: [{ action: 'create' }] });
    await then.isGone('configmap/a');
  });
});

scenario('lapse trash lists, shows and verifies what was deleted', async (scene) => {
  const { given, when } = scene;
  start(given, { trash: {} });
  await given.object([previews(), preview('a')]);
  await when.timePasses(hours(1));
  const [record] = await savedRecords((await scene.simulation()).user);
  const id = record!.metadata.name;
  const listed = await asUser(scene, (it) => listTrash(it, { output: 'text' }));
  expect(listed.out).toContain(`${id}   `);
  expect(listed.out).toContain('ConfigMap/a   TTLPolicy default/previews');
  const none = await asUser(scene, (it) => listTrash(it, { output: 'text', namespace: 'other' }));
  expect(none).toMatchObject({ out: '', said: 'no saved objects\n' });
  const shown = await asUser(scene, (it) => showRecord(it, id, { output: 'yaml' }));
  expect(shown.out).toContain('name: a');
  expect(shown.said).toContain('it does not exist now');
  expect((await asUser(scene, (it) => showRecord(it, 'unknown', { output: 'yaml' }))).code).toBe(1);
  const verified = await asUser(scene, (it) => verifyTrash(it, { output: 'text' }));
  expect(verified).toMatchObject({ code: 0, out: expect.stringContaining('1 object in 1 chunk') });
});

function savingCleaners({ given }: Scene): void {
  given.controllers('cleaner');
  const cleanerSection = { authorKeySecret: { namespace: 'kube-system' } };
  given.configuration({ actAs: 'controller', trash: {}, cleaner: cleanerSection });
}

describe('undo of a Cleaner', () => {
  scenario('restores the targets, and not the Cleaner', async (scene) => {
    const { when, then, given } = scene;
    savingCleaners(scene);
    await given.object([
      { ...configMap('a'), data: { x: 'y' } },
      cleaner({ ttl: '1m', targets: [target('a', 'a', { delete: true })] }),
    ]);
    await when.timePasses(minutes(2));
    await then.isGone('configmap/a');
    await then.isGone('cleaner/c');
    const { code, out } = await runUndo(scene, undefined, { rule: 'default/c' });
    expect(code).toBe(3);
    expect(out).toContain('it would delete its targets again');
    expect((await then.object('configmap/a')).data).toEqual({ x: 'y' });
  });

  scenario('restores a Helm release with its objects and records', async (scene) => {
    const { when, then, given } = scene;
    savingCleaners(scene);
    const record = storedRelease({ manifest: document('ConfigMap', 'm') });
    await given.object([
      installed(configMap('m')),
      record,
      cleaner({ ttl: '1m', helm: { release: 'shop', delete: true } }),
    ]);
    const name = record.metadata.name ?? '';
    const before = await then.object(`secret/${name}`);
    await when.timePasses(minutes(2));
    await then.isGone('configmap/m');
    await then.isGone(`secret/${name}`);
    await runUndo(scene, undefined, { rule: 'c' });
    await then.exists('configmap/m');
    expect(comparable(await then.object(`secret/${name}`))).toEqual(comparable(before));
  });

  scenario('a target that cannot be saved is not deleted', async (scene) => {
    const { when, then, given } = scene;
    savingCleaners(scene);
    await given.object([
      configMap('a'),
      cleaner({ ttl: '1m', targets: [target('a', 'a', { delete: true })] }),
    ]);
    when.serverAnswers((request) => request.resource === 'secrets' && request.verb === 'create', 403, {
      times: 1000,
    });
    await when.timePasses(minutes(2));
    await then.exists('configmap/a');
    const { status } = await then.object<KubeObject & { status?: { conditions?: { reason?: string }[] } }>(
      'cleaner/c',
    );
    expect(status?.conditions?.[0]?.reason).toBe('SaveFailed');
    await when.faultsEnd();
    await when.timePasses(minutes(10));
    await then.isGone('configmap/a');
  });
});
