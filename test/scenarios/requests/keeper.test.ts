// ObjectKeepers: what they follow, how they find out that it is gone, and what they never mistake for gone.

import { hours, minutes, seconds } from '@lapse/base/instant';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ObjectKeeper } from 'lapse/api/objectKeeper';
import { volumeCaptureRequestKind } from 'lapse/api/volumeCaptureRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Given, Then, When } from '../scene.ts';
import { requestScenario } from './invariants.ts';

const CONFIG_MAP: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'it', namespace: 'default' },
};
const REF = 'objectkeeper/k';

const keeper = (spec: object): KubeObject => ({
  apiVersion: 'deckhouse.io/v1alpha1',
  kind: 'ObjectKeeper',
  metadata: { name: 'k' },
  spec,
});
const follow = (object: KubeObject, more: object = { mode: 'FollowObject' }): KubeObject =>
  keeper({
    ...more,
    followObjectRef: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name,
      uid: object.metadata.uid,
    },
  });
const TIMED = { mode: 'FollowObjectWithTTL', ttl: '1h' };

/** A keeper that follows a ConfigMap. */
async function following(
  { given, when, then }: { given: Given; when: When; then: Then },
  spec?: object,
): Promise<KubeObject> {
  given.controllers('object-keeper');
  given.configuration({ objectKeeper: { follow: ['configmaps'] } });
  await given.object(CONFIG_MAP);
  const object = await then.object('configmap/it');
  await when.user.apply(follow(object, spec));
  return object;
}
const stateOf = async (then: Then) => {
  const { status } = await then.object<ObjectKeeper>(REF);
  return `${status?.phase} ${status?.conditions?.map(({ type, status: value, reason }) => `${type}=${value}/${reason}`).join(' ')}`;
};

requestScenario('FollowObject: is deleted at once when the object is deleted', async (scene) => {
  await following(scene);
  expect(await stateOf(scene.then)).toBe('Tracking Active=True/ObjectExists');
  await scene.when.timePasses(hours(100));
  const { reconciles } = await scene.simulation();
  expect(reconciles.length, 'nothing is polled').toBeLessThan(6);
  await scene.when.user.delete('configmap/it');
  await scene.then.isGone(REF);
});

requestScenario('FollowObject: another object of the same name does not count', async (scene) => {
  await following(scene);
  scene.when.cachesAreStale();
  await scene.when.user.delete('configmap/it');
  await scene.when.user.apply(CONFIG_MAP);
  await scene.when.cachesCatchUp();
  await scene.then.isGone(REF);
});

requestScenario(
  'FollowObjectWithTTL: counts from the deletion of the object, across a restart',
  async (scene) => {
    const { when, then } = scene;
    await following(scene, TIMED);
    await when.timePasses(minutes(30));
    await when.user.delete('configmap/it');
    expect(await stateOf(then)).toBe(
      'Expiring Active=False/MissingFollowObject TTLActive=True/MissingFollowObject',
    );
    const { lostAt } = (await then.object<ObjectKeeper>(REF)).status!;
    expect(lostAt).toBe('2026-01-01T00:30:00Z');
    await when.timePasses(minutes(30));
    await when.processCrashes({ downFor: minutes(5) });
    expect((await then.object<ObjectKeeper>(REF)).status!.lostAt).toBe(lostAt);
    await when.timePasses(seconds(25 * 60 - 1));
    await then.exists(REF);
    await when.timePasses(seconds(1));
    await then.isGone(REF);
  },
);

requestScenario(
  'FollowObjectWithTTL: an object that was only temporarily invisible stops the countdown',
  async (scene) => {
    const { when, then } = scene;
    const object = await following(scene, TIMED);
    await when.user.status(REF, { lostAt: '2026-01-01T00:00:00Z', phase: 'Expiring' });
    await when.user.patch(REF, { metadata: { labels: { look: 'here' } }, spec: { ttl: '2h' } });
    const { status } = await then.object<ObjectKeeper>(REF);
    expect([status?.phase, status?.lostAt]).toEqual(['Tracking', undefined]);
    expect(object.metadata.uid).toBeDefined();
    await when.timePasses(hours(9));
    await then.exists(REF);
  },
);

// Not a requestScenario: its invariants allow no finalizers.
scenario(
  'TTL: a keeper that a finalizer keeps after its deletion is reported, and deleted once',
  async ({ given, when, then }) => {
    given.controllers('object-keeper');
    given.noDoubleRun('no client removes the finalizer, so the keeper is reported again by a new process');
    const timed = keeper({ mode: 'TTL', ttl: '90m' });
    await given.object({ ...timed, metadata: { name: 'k', finalizers: ['example.com/wait'] } });
    await when.timePasses(minutes(101));
    await then.exists(REF);
    expect((await then.events(REF)).map(({ reason }) => reason)).toEqual(['StuckTerminating']);
    await when.timePasses(hours(1));
    expect(then.requests('delete objectkeepers')).toHaveLength(1);
  },
);

requestScenario(
  'TTL: counts from the creation of the keeper, to the second',
  async ({ given, when, then }) => {
    given.controllers('object-keeper');
    await given.object(keeper({ mode: 'TTL', ttl: '90m' }));
    expect(await stateOf(then)).toBe('Expiring Active=True/TTLActive');
    await when.timePasses(seconds(90 * 60 - 1));
    await then.exists(REF);
    await when.timePasses(seconds(1));
    await then.isGone(REF);
  },
);

requestScenario.each(
  {
    'an invalid TTL: nothing is deleted': [{ mode: 'TTL', ttl: '1d' }, 'Pending Active=False/InvalidTTL'],
    'a negative TTL: nothing is deleted': [{ mode: 'TTL', ttl: '-1h' }, 'Pending Active=False/InvalidTTL'],
    'an invalid apiVersion: nothing is deleted': [
      {
        mode: 'FollowObject',
        followObjectRef: { apiVersion: 'a/b/c', kind: 'X', namespace: '', name: 'x', uid: 'u' },
      },
      'Pending Active=False/InvalidAPIVersion',
    ],
    'no name: nothing is deleted': [
      {
        mode: 'FollowObject',
        followObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: '', uid: 'u' },
      },
      'Pending Active=False/MissingFollowObjectRef',
    ],
    'no namespace for a namespaced kind: nothing is deleted': [
      {
        mode: 'FollowObject',
        followObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', namespace: '', name: 'x', uid: 'u' },
      },
      'Pending Active=Unknown/LookupRefused',
    ],
    'a kind that is not served: nothing is deleted': [
      {
        mode: 'FollowObject',
        followObjectRef: { apiVersion: 'a.example/v1', kind: 'X', namespace: '', name: 'x', uid: 'u' },
      },
      'Pending Active=Unknown/KindNotServed',
    ],
  } as const,
  async ({ given, when, then }, [spec, state]) => {
    given.controllers('object-keeper');
    await given.object(keeper(spec));
    await when.timePasses(minutes(20));
    expect(await stateOf(then)).toBe(state);
  },
);

requestScenario.each(
  {
    'TTL with a reference is refused': {
      mode: 'TTL',
      ttl: '1h',
      followObjectRef: { apiVersion: 'v1', kind: 'X', namespace: '', name: 'x', uid: 'u' },
    },
    'TTL without a ttl is refused': { mode: 'TTL' },
    'FollowObject without a reference is refused': { mode: 'FollowObject' },
    'FollowObject with a ttl is refused': {
      mode: 'FollowObject',
      ttl: '1h',
      followObjectRef: { apiVersion: 'v1', kind: 'X', namespace: '', name: 'x', uid: 'u' },
    },
    'FollowObjectWithTTL without a ttl is refused': {
      mode: 'FollowObjectWithTTL',
      followObjectRef: { apiVersion: 'v1', kind: 'X', namespace: '', name: 'x', uid: 'u' },
    },
    'an unknown mode is refused': { mode: 'Forever' },
  },
  async ({ given, when }, spec) => {
    given.controllers('object-keeper');
    await expect(when.user.create(keeper(spec))).rejects.toThrow(
      /is (required|not allowed) in the mode|Unsupported value/,
    );
  },
);

requestScenario(
  'a lookup that is refused or fails keeps the keeper, and the status says so',
  async (scene) => {
    const { when, then } = scene;
    await following(scene);
    when.serverAnswers('get configmaps', 403, { times: 2 });
    await when.user.delete('configmap/it');
    expect(await stateOf(then)).toBe('Tracking Active=Unknown/LookupRefused');
    await when.timePasses(minutes(1));
    await then.exists(REF);
    await when.timePasses(minutes(1));
    await then.isGone(REF);
  },
);

requestScenario(
  'if watching is forbidden, the object is read each minute',
  async ({ given, when, then, simulation }) => {
    given.controllers('object-keeper');
    given.configuration({ objectKeeper: { follow: ['configmaps'] } });
    await given.object(CONFIG_MAP);
    (await simulation()).faults.answer(
      ({ verb, resource }) => resource === 'configmaps' && (verb === 'list' || verb === 'watch'),
      403,
      { times: 1e9 },
    );
    await when.user.apply(follow(await then.object('configmap/it')));
    await when.timePasses(minutes(10));
    expect(await stateOf(then)).toBe('Tracking Active=True/ObjectExists');
    await when.user.delete('configmap/it');
    await when.timePasses(minutes(1));
    await then.isGone(REF);
  },
);

const VCR: KubeObject = {
  apiVersion: 'storage.deckhouse.io/v1alpha1',
  kind: 'VolumeCaptureRequest',
  metadata: { name: 'r', namespace: 'default' },
  spec: { mode: 'Snapshot' },
};

requestScenario(
  'a CRD that is removed and created again causes no deletion of keepers',
  async ({ given, when, then, simulation }) => {
    given.controllers('object-keeper');
    given.kinds(volumeCaptureRequestKind as never);
    await given.object(VCR);
    await when.user.apply(follow(await then.object('vcr/r')));
    expect(await stateOf(then)).toBe('Tracking Active=True/ObjectExists');
    await when.timePasses(minutes(1));
    const name = volumeCaptureRequestKind.crd.metadata.name!;
    await (await simulation()).user.delete(CustomResourceDefinition, { name });
    await when.timePasses(minutes(5));
    expect(await stateOf(then)).toBe('Tracking Active=Unknown/KindNotServed');
    await when.user.apply(volumeCaptureRequestKind.crd);
    await when.timePasses(minutes(5));
    expect(await stateOf(then)).toBe('Tracking Active=Unknown/KindRecreated');
    await when.timePasses(minutes(20));
    await then.exists(REF);
  },
);

requestScenario(
  'a CRD that is terminating, and deletes its objects, causes no deletion of keepers',
  async (scene) => {
    const { given, when, then, simulation } = scene;
    given.controllers('object-keeper');
    given.kinds(volumeCaptureRequestKind as never);
    await given.object(VCR);
    await when.user.apply(follow(await then.object('vcr/r')));
    const { user } = await simulation();
    const name = volumeCaptureRequestKind.crd.metadata.name!;
    const { metadata } = (await user.get(CustomResourceDefinition, { name }))!;
    const finalizers = [...(metadata.finalizers ?? []), 'example.com/held'];
    await user.patch(
      CustomResourceDefinition,
      { name },
      { type: 'merge', patch: { metadata: { finalizers } } },
    );
    await user.delete(CustomResourceDefinition, { name });
    await when.timePasses(minutes(5));
    await then.isGone('vcr/r');
    await then.isTerminating(`crd/${name}`);
    expect(await stateOf(then)).toBe('Tracking Active=Unknown/KindNotServed');
  },
);

requestScenario(
  'a CRD that is removed and created again within a second causes no deletion of keepers',
  async (scene) => {
    const { given, when, then, simulation } = scene;
    given.controllers('object-keeper');
    given.kinds(volumeCaptureRequestKind as never);
    await given.object(VCR);
    await when.user.apply(follow(await then.object('vcr/r')));
    expect(await stateOf(then)).toBe('Tracking Active=True/ObjectExists');
    const { user } = await simulation();
    await user.delete(CustomResourceDefinition, { name: volumeCaptureRequestKind.crd.metadata.name! });
    when.cachesAreStale();
    await when.user.apply(volumeCaptureRequestKind.crd);
    await when.cachesCatchUp();
    await when.timePasses(minutes(20));
    expect(await stateOf(then)).toBe('Tracking Active=Unknown/KindRecreated');
  },
);

requestScenario(
  'waits for a kind that is not served for a while',
  async ({ given, when, then, simulation }) => {
    given.controllers('object-keeper');
    given.kinds(volumeCaptureRequestKind as never);
    await given.object(VCR);
    await when.user.apply(follow(await then.object('vcr/r')));
    const { user } = await simulation();
    const serve = (served: boolean) =>
      user.patch(
        CustomResourceDefinition,
        { name: volumeCaptureRequestKind.crd.metadata.name! },
        { type: 'json', operations: [{ op: 'replace', path: '/spec/versions/0/served', value: served }] },
      );
    await serve(false);
    await when.processRestarts();
    await when.timePasses(hours(2));
    await then.exists(REF);
    expect(await stateOf(then)).toBe('Tracking Active=Unknown/KindNotServed');
    await serve(true);
    await when.timePasses(minutes(2));
    expect(await stateOf(then)).toBe('Tracking Active=True/ObjectExists');
  },
);

requestScenario('an object with another owner is kept when the keeper is deleted', async (scene) => {
  const { given, when, then } = scene;
  given.simulatedControllers(...simulatedControllersNamed(['owner-gc']));
  await following(scene);
  await when.user.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'adopter', namespace: 'default' },
  });
  const owners = [await then.object(REF), await then.object('configmap/adopter')].map(
    ({ apiVersion, kind, metadata }) => ({
      apiVersion,
      kind,
      name: metadata.name!,
      uid: metadata.uid!,
    }),
  );
  const owned = (name: string, ownerReferences: typeof owners): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default', ownerReferences },
  });
  await when.user.apply([owned('kept', owners), owned('taken', owners.slice(0, 1))]);
  await when.user.delete('configmap/it');
  await then.isGone(REF);
  await then.isGone('secret/taken');
  await then.exists('secret/kept');
});
