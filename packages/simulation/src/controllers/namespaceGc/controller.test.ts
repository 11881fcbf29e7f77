// The deletion of a namespace on the embedded server.

import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { ConfigMap, Namespace, Pod, Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import { inWorld, refuse, type World, type WorldOptions } from '@lapse/runtime/world.testkit';
import { expect, test } from 'vitest';
import { namespaceGc } from './controller.ts';

const options = (): WorldOptions => ({ controllers: [namespaceGc()], enforceRights: true });
const make = async (world: World, kind: Kind, name: string, more: Partial<KubeObject> = {}) =>
  objectOf(
    await world.user.create(kind, {
      apiVersion: 'v1',
      kind: kind.kind,
      ...more,
      metadata: { name, ...(kind.namespaced ? { namespace: 'n' } : {}), ...more.metadata },
    }),
  );
const gone = async (world: World) => (await world.user.get(Namespace, { name: 'n' })) === undefined;
const troubles = async (world: World) =>
  (await world.user.get(Namespace, { name: 'n' }))?.status?.conditions
    ?.filter(({ status }) => status === 'True')
    .map(({ type, message }) => `${type}: ${message}`);

async function begin(world: World): Promise<void> {
  world.manager.start();
  await make(world, Namespace, 'n');
}
const end = (world: World) => world.user.delete(Namespace, { name: 'n' });

test(
  'a namespace is deleted after five seconds, with its content and nothing else',
  inWorld(options(), async (world) => {
    await begin(world);
    await make(world, ConfigMap, 'a');
    await make(world, Secret, 'b');
    await make(world, ConfigMap, 'c', { metadata: { namespace: 'default' } });
    await end(world);
    await world.pass(4999);
    expect(await gone(world)).toBe(false);
    await world.pass(1);
    expect(await gone(world)).toBe(true);
    const left = await world.user.list(metadataOf(ConfigMap));
    expect(left.items.map(({ metadata }) => metadata.name)).toEqual(['c']);
    expect((await world.user.list(Secret)).items).toEqual([]);
  }),
);

test(
  'a finalizer of an object keeps the namespace and is named in its conditions',
  inWorld(options(), async (world) => {
    await begin(world);
    await make(world, ConfigMap, 'a', { metadata: { finalizers: ['x.dev/hold'] } });
    await end(world);
    await world.pass(60_000);
    expect(await troubles(world)).toEqual([
      'NamespaceContentRemaining: Some resources are remaining: configmaps. has 1 resource instances',
      'NamespaceFinalizersRemaining: Some content in the namespace has finalizers remaining: x.dev/hold in 1 resource instances',
    ]);
    await world.user.patch(
      ConfigMap,
      { namespace: 'n', name: 'a' },
      { type: 'merge', patch: { metadata: { finalizers: null } } },
    );
    await world.pass(8000);
    expect(await gone(world)).toBe(true);
  }),
);

test(
  'other objects are kept until terminating Pods are deleted',
  inWorld(options(), async (world) => {
    await begin(world);
    await make(world, ConfigMap, 'a');
    await make(world, Pod, 'p', {
      spec: { nodeName: 'x', containers: [{ name: 'c', image: 'i' }] },
    });
    await end(world);
    await world.pass(10_000);
    expect(
      (await world.user.get(Pod, { namespace: 'n', name: 'p' }))?.metadata.deletionTimestamp,
    ).toBeDefined();
    expect(await world.user.get(ConfigMap, { namespace: 'n', name: 'a' })).toBeDefined();
    await world.user.delete(Pod, { namespace: 'n', name: 'p' }, { gracePeriodSeconds: 0 });
    await world.pass(16_000);
    expect(await gone(world)).toBe(true);
  }),
);

test(
  'a kind that cannot be deleted keeps the namespace, and other kinds are deleted',
  inWorld(options(), async (world) => {
    await begin(world);
    await make(world, ConfigMap, 'a');
    await make(world, Secret, 'b');
    world.interfere = ({ method, path }) =>
      method === 'DELETE' && path.startsWith('/api/v1/namespaces/n/secrets')
        ? refuse(500, 'InternalError', 'no')
        : undefined;
    await end(world);
    await world.pass(60_000);
    expect((await world.user.list(ConfigMap, { namespace: 'n' })).items).toEqual([]);
    expect(await troubles(world)).toEqual([
      'NamespaceDeletionContentFailure: Failed to delete all resource types, 1 remaining: no',
    ]);
    world.interfere = () => undefined;
    await world.pass(60_000);
    expect(await gone(world)).toBe(true);
  }),
);

test(
  'a group whose discovery fails keeps the namespace, and other content is deleted',
  inWorld(options(), async (world) => {
    await begin(world);
    await make(world, ConfigMap, 'a');
    const item = {
      metadata: { name: 'x.dev' },
      versions: [{ version: 'v1', freshness: 'Stale', resources: [] }],
    };
    const document = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items: [item] };
    world.interfere = ({ path }) =>
      path.split('?')[0] === '/apis'
        ? {
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: Buffer.from(JSON.stringify(document)),
          }
        : undefined;
    await end(world);
    await world.pass(60_000);
    expect((await world.user.list(ConfigMap, { namespace: 'n' })).items).toEqual([]);
    expect(await troubles(world)).toEqual([
      'NamespaceDeletionDiscoveryFailure: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: x.dev/v1: stale GroupVersion discovery: x.dev/v1',
    ]);
    world.interfere = ({ path }) =>
      path.split('?')[0] === '/apis' ? refuse(503, 'ServiceUnavailable') : undefined;
    await world.pass(60_000);
    expect(await gone(world)).toBe(false);
    world.interfere = () => undefined;
    await world.pass(60_000);
    expect(await gone(world)).toBe(true);
  }),
);

test(
  'a finalizer of the namespace keeps it after its content is deleted',
  inWorld(options(), async (world) => {
    world.manager.start();
    await make(world, Namespace, 'n', { spec: { finalizers: ['x.dev/mine'] } });
    await end(world);
    await world.pass(60_000);
    const left = await world.user.get(Namespace, { name: 'n' });
    expect(left?.spec?.finalizers).toEqual(['x.dev/mine']);
    const quiet = world.writes().length;
    await world.pass(600_000);
    expect(world.writes().length).toBe(quiet);
  }),
);
