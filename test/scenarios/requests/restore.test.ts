// Restores: the controller observes what others create. Covers every reason with which a restore can end.

import { hours, type Millis, minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Fault } from '@lapse/simulation/faults';
import type { Matcher } from '@lapse/simulation/requestInfo';
import { expect } from 'vitest';
import { requestScenario } from './invariants.ts';
import { claim, content, readyOf, restore, volume, volumeWorld, type WorldOptions } from './kit.ts';

const ALONE: WorldOptions = {
  families: ['volume-restore'],
  simulatedControllers: ['deckhouse-provisioner'],
  objects: [content()],
};
const SOURCE = { kind: 'VolumeSnapshotContent', name: 'kept' };

interface Row {
  readonly world?: WorldOptions;
  readonly request?: KubeObject;
  readonly fault?: readonly [Matcher, Fault | number];
  /** Time that passes before the request is created. */
  readonly after?: Millis;
  /** A claim that a user creates after the request. */
  readonly later?: KubeObject;
  readonly ends: string | undefined;
  readonly says: string;
  readonly keepers: 0 | 1;
}

const SCRIPT = 'simulation.lapse.dev/restore';
const scripted = (text: string) => restore('back', {}, { annotations: { [SCRIPT]: text } });
const marked = (uid: string) => ({ annotations: { 'storage.deckhouse.io/volume-restore-request': uid } });

const rows: Record<string, Row> = {
  'Completed: from a snapshot': { ends: 'True Completed', says: 'it is its user', keepers: 1 },
  'Completed: from a volume': {
    world: { ...ALONE, objects: [volume('old')] },
    request: restore('back', { sourceRef: { kind: 'PersistentVolume', name: 'old' } }),
    ends: 'True Completed',
    says: 'default/restored is restored',
    keepers: 1,
  },
  'Completed: a claim that existed before and names the source': {
    world: {
      ...ALONE,
      objects: [
        content(),
        claim('restored', { dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', ...SOURCE } }),
      ],
    },
    after: seconds(60),
    ends: 'True Completed',
    says: 'is restored',
    keepers: 1,
  },
  'still pending: no claim was created': {
    world: { ...ALONE, simulatedControllers: [] },
    ends: undefined,
    says: '',
    keepers: 1,
  },
  'TargetConflict: a bound claim that was created later and is not marked': {
    world: { ...ALONE, simulatedControllers: [] },
    later: claim('restored'),
    ends: 'False TargetConflict',
    says: 'was not made for this request',
    keepers: 1,
  },
  'still pending: an unbound claim that was created later and is not marked': {
    world: { ...ALONE, simulatedControllers: [] },
    later: claim('restored', { volumeName: '' }, {}, 'Pending'),
    ends: undefined,
    says: '',
    keepers: 1,
  },
  'Completed: a claim that was created later and names the source': {
    world: { ...ALONE, simulatedControllers: [] },
    later: claim('restored', { dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', ...SOURCE } }),
    ends: 'True Completed',
    says: 'is restored',
    keepers: 1,
  },
  'NotFound: no such snapshot': {
    world: { ...ALONE, objects: [] },
    ends: 'False NotFound',
    says: 'VolumeSnapshotContent kept does not exist',
    keepers: 0,
  },
  'NotFound: no such volume': {
    request: restore('back', { sourceRef: { kind: 'PersistentVolume', name: 'none' } }),
    ends: 'False NotFound',
    says: 'PersistentVolume none does not exist',
    keepers: 0,
  },
  'SourceFailed: the snapshot failed': {
    world: { ...ALONE, objects: [content('kept', { readyToUse: false, error: { message: 'no space' } })] },
    ends: 'False SourceFailed',
    says: 'no space',
    keepers: 0,
  },
  'still pending: the snapshot is not ready': {
    world: { ...ALONE, objects: [content('kept', { readyToUse: false })] },
    ends: undefined,
    says: '',
    keepers: 0,
  },
  'InvalidReference: a target in another namespace': {
    request: restore('back', { targetNamespace: 'kube-system' }),
    ends: 'False InvalidReference',
    says: 'restores across namespaces are not allowed',
    keepers: 0,
  },
  'TargetConflict: a claim that existed before': {
    world: { ...ALONE, objects: [content(), claim('restored')] },
    after: seconds(60),
    ends: 'False TargetConflict',
    says: 'existed before this request',
    keepers: 1,
  },
  'TargetConflict: a claim for another request': {
    world: { ...ALONE, objects: [content(), claim('restored', {}, marked('another'))] },
    ends: 'False TargetConflict',
    says: 'was made for another request',
    keepers: 1,
  },
  'RestoreFailed: the provisioner refuses': {
    request: scripted('error: no such pool'),
    ends: 'False RestoreFailed',
    says: 'external-provisioner refused (VRRInvalidSource): no such pool',
    keepers: 1,
  },
  'RestoreFailed: the claim lost its volume': {
    world: {
      ...ALONE,
      objects: [
        content(),
        {
          ...claim('restored', { dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', ...SOURCE } }),
          status: { phase: 'Lost' },
        },
      ],
    },
    ends: 'False RestoreFailed',
    says: 'lost its volume',
    keepers: 1,
  },
  'Completed: fields of older manifests are accepted and reported': {
    request: restore('back', {
      sourceRef: { ...SOURCE, namespace: 'd8-storage-foundation' },
      serviceNamespace: 'd8-storage-foundation',
      targetNamespace: '',
    }),
    ends: 'True Completed',
    says: 'spec.serviceNamespace is ignored; spec.sourceRef.namespace is ignored',
    keepers: 1,
  },
  'still pending: a refusal by a component that is not listed': {
    world: { ...ALONE, configuration: { restore: { eventReporters: ['somebody-else'] } } },
    request: scripted('error: not heard'),
    ends: undefined,
    says: '',
    keepers: 1,
  },
  'RBACDenied: keepers may not be created': {
    fault: ['create objectkeepers', 403],
    ends: 'False RBACDenied',
    says: 'creating ObjectKeeper',
    keepers: 0,
  },
  'InternalError: the server refuses the request as malformed': {
    fault: ['create objectkeepers', 400],
    ends: 'False InternalError',
    says: 'creating ObjectKeeper',
    keepers: 0,
  },
};

requestScenario.each(rows, async ({ given, when, then, simulation }, row) => {
  await volumeWorld(given, row.world ?? ALONE);
  if (row.after !== undefined) await when.timePasses(row.after);
  if (row.fault !== undefined) when.serverAnswers(row.fault[0], row.fault[1], { times: 9 });
  await when.user.apply(row.request ?? restore());
  if (row.later !== undefined) await when.user.apply(row.later);
  await when.timePasses(seconds(2));
  expect(await readyOf(then, 'vrr/back')).toBe(row.ends);
  expect(JSON.stringify((await then.object('vrr/back')).status ?? {})).toContain(row.says);
  await when.faultsEnd();
  const created = (await simulation())
    .writes()
    .filter(({ verb, status }) => verb === 'create' && status === 201);
  expect(created.map(({ resource }) => resource)).toEqual(row.keepers === 0 ? [] : ['objectkeepers']);
});

requestScenario(
  'OwnershipConflict: a keeper of that name follows another object',
  async ({ given, when, then }) => {
    await volumeWorld(given, ALONE);
    when.justBefore('create objectkeepers', async ({ body }) => {
      const keeper = JSON.parse(Buffer.from(body!).toString()) as KubeObject & {
        spec: { mode: string; followObjectRef?: object; ttl?: string };
      };
      keeper.spec = { mode: 'TTL', ttl: '1h' };
      await when.user.create(keeper);
    });
    await when.user.apply(restore());
    expect(await readyOf(then, 'vrr/back')).toBe('False OwnershipConflict');
  },
);

requestScenario(
  'a restore that no controller serves stays pending, with an Event after ten minutes',
  async ({ given, when, then }) => {
    await volumeWorld(given, { ...ALONE, simulatedControllers: [] });
    await when.user.apply(restore());
    await when.timePasses(minutes(9));
    expect(await then.events('VolumeRestoreRequest/back')).toEqual([]);
    await when.timePasses(minutes(2));
    const [event] = await then.events('VolumeRestoreRequest/back');
    expect(event).toMatchObject({ reason: 'WaitingForProvisioner', type: 'Warning' });
    await when.timePasses(hours(2));
    expect(await readyOf(then, 'vrr/back')).toBeUndefined();
  },
);

requestScenario(
  'the restored claim belongs to its user: it outlives the request',
  async ({ given, when, then }) => {
    await volumeWorld(given, {
      families: ['volume-restore', 'object-keeper', 'request-ttl'],
      simulatedControllers: ['owner-gc', 'deckhouse-provisioner'],
      objects: [content()],
    });
    await when.user.apply(restore());
    await when.timePasses(minutes(11));
    await then.isGone('vrr/back');
    expect((await then.object('pvc/restored')).metadata.ownerReferences ?? []).toEqual([]);
  },
);

requestScenario(
  'with ownership Keeper the keeper owns the claim, which is deleted with the request',
  async ({ given, when, then }) => {
    await volumeWorld(given, {
      families: ['volume-restore', 'object-keeper', 'request-ttl'],
      simulatedControllers: ['owner-gc', 'deckhouse-provisioner'],
      objects: [content()],
      configuration: { restore: { ownership: 'Keeper' } },
    });
    await when.user.apply(restore());
    await when.timePasses(seconds(2));
    expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
    const { uid } = (await then.object('vrr/back')).metadata;
    const keeper = await then.object(`objectkeeper/ret-pvc-${uid}`);
    const owners = (await then.object('pvc/restored')).metadata.ownerReferences;
    expect(owners).toMatchObject([{ kind: 'ObjectKeeper', uid: keeper.metadata.uid, controller: true }]);
    await when.timePasses(minutes(11));
    await then.isGone('pvc/restored');
  },
);

requestScenario('a source that becomes ready later is restored then', async ({ given, when, then }) => {
  await volumeWorld(given, { ...ALONE, objects: [content('kept', { readyToUse: false })] });
  await when.user.apply(restore());
  await when.timePasses(minutes(1));
  await when.user.status('vsc/kept', { readyToUse: true });
  await when.timePasses(seconds(2));
  expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
});
