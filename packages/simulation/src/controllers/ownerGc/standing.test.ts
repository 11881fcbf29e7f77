// The simulated garbage collector under failures: added and removed kinds, stale caches, conflicts, errors, restarts.

import { millis } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import { ConfigMap, CustomResourceDefinition, Namespace, Secret } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import { apiVersionOf, type KubeObject, type OwnerReference } from '@lapse/kube/api/object';
import { isIdle } from '@lapse/runtime/activity';
import { Manager } from '@lapse/runtime/manager';
import { refuse, type World } from '@lapse/runtime/world.testkit';
import { expect, test } from 'vitest';
import { beside, make as create } from '../simulatedController.testkit.ts';
import { createOwnerGc } from './controller.ts';

const { kind: Thing, crd } = defineCustomKind({
  kind: { group: 'x.dev', version: 'v1', kind: 'Thing', resource: 'things', namespaced: true },
  description: 'A thing.',
  spec: { type: 'object' },
  required: [],
});
const ownedBy = (kind: Kind, { metadata }: KubeObject, more: Partial<OwnerReference> = {}) => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  name: metadata.name!,
  uid: metadata.uid!,
  ...more,
});
const make = (world: World, kind: Kind, name: string, ...ownerReferences: OwnerReference[]) =>
  create(world, kind, { metadata: { name, namespace: 'default', ownerReferences } });
const define = (world: World) => create(world, CustomResourceDefinition, crd as CustomResourceDefinition);
const names = async (world: World, kind: Kind = ConfigMap) =>
  (await world.user.list(kind, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
const ghost = (kind = 'ConfigMap', apiVersion = 'v1') => ({
  apiVersion,
  kind,
  name: 'ghost',
  uid: 'no-such-uid',
});

const rule = (name: string, run: Parameters<typeof beside>[1]) =>
  test(
    name,
    beside(
      () => [createOwnerGc()],
      async (world) => {
        await world.pass(1000);
        await run(world);
      },
    ),
  );

rule('collects objects of a new kind at once', async (world) => {
  await define(world);
  await world.pass(1000);
  const owner = await make(world, Thing, 'a');
  await make(world, Thing, 'b', ownedBy(Thing, owner));
  await make(world, ConfigMap, 'c', ownedBy(Thing, owner));
  await world.user.delete(Thing, keyOf(owner));
  await world.pass(100);
  expect([await names(world, Thing), await names(world)]).toEqual([[], []]);
});

rule('deletes the dependents of custom objects with their CRD', async (world) => {
  await define(world);
  await world.pass(1000);
  const owner = await make(world, Thing, 'a');
  for (let i = 0; i < 50; i++) await make(world, ConfigMap, `c${i}`, ownedBy(Thing, owner));
  await world.pass(1000);
  await world.user.delete(CustomResourceDefinition, { name: 'things.x.dev' });
  await world.pass(60_000);
  expect(await names(world)).toEqual([]);
});

rule('treats an owner of a kind that is not served as unknown until it is served', async (world) => {
  await make(world, ConfigMap, 'a', ghost('Thing', 'x.dev/v1'));
  await world.pass(1_200_000);
  expect(await names(world)).toEqual(['a']);
  expect(world.reconciles.filter(({ key }) => key === 'default/configmaps/a')).toHaveLength(1);
  expect(
    world.requests.filter((request) => request.startsWith('GET /apis?') || request === 'GET /apis').length,
  ).toBe(1);
  await define(world);
  await world.pass(10_000);
  expect(await names(world)).toEqual([]);
});

rule('does not treat an owner as absent because its kind is no longer served', async (world) => {
  await define(world);
  await world.pass(1000);
  await world.user.delete(CustomResourceDefinition, { name: 'things.x.dev' });
  await world.pass(1000);
  await make(world, ConfigMap, 'a', ghost('Thing', 'x.dev/v1'));
  await world.pass(600_000);
  expect(await names(world)).toEqual(['a']);
});

rule('reads an absent owner from the server before it deletes a dependent', async (world) => {
  world.interfere = ({ method, path }) =>
    method === 'GET' && path.endsWith('/configmaps/ghost') ? refuse(503, 'ServiceUnavailable') : undefined;
  await make(world, ConfigMap, 'a', ghost());
  await world.pass(600_000);
  expect([await names(world), world.writes()]).toEqual([['a'], []]);
  world.interfere = () => undefined;
  await world.pass(120_000);
  expect(await names(world)).toEqual([]);
});

rule('keeps a dependent whose owner is not cached yet', async (world) => {
  world.holdEvents();
  const owner = await make(world, Secret, 'a');
  world.releaseEvents();
  await make(world, ConfigMap, 'b', ownedBy(Secret, owner));
  await world.pass(60_000);
  expect(await names(world)).toEqual(['b']);
});

rule('keeps an object that gets an owner just before its deletion', async (world) => {
  const owner = await make(world, Secret, 'a');
  let saved = false;
  world.interfere = async ({ method }) => {
    if (method === 'DELETE' && !saved) {
      saved = true;
      await world.user.patch(
        ConfigMap,
        { namespace: 'default', name: 'b' },
        { type: 'merge', patch: { metadata: { ownerReferences: [ownedBy(Secret, owner)] } } },
      );
    }
    return undefined;
  };
  await make(world, ConfigMap, 'b', ghost());
  await world.pass(60_000);
  expect([saved, await names(world)]).toEqual([true, ['b']]);
});

rule('deletes an object that is updated constantly', async (world) => {
  let writes = 0;
  world.interfere = async ({ method }) => {
    if (method === 'DELETE' && writes++ < 2)
      await world.user.patch(
        ConfigMap,
        { namespace: 'default', name: 'b' },
        { type: 'merge', patch: { data: { n: String(writes) } } },
      );
    return undefined;
  };
  await make(world, ConfigMap, 'b', ghost());
  await world.pass(60_000);
  expect(await names(world)).toEqual([]);
});

rule('does not delete a recreated object with the same name', async (world) => {
  const first = await make(world, Secret, 'a');
  await make(world, ConfigMap, 'b', ownedBy(Secret, first));
  await world.pass(100);
  world.holdEvents();
  await world.user.delete(Secret, keyOf(first));
  await make(world, Secret, 'a');
  world.releaseEvents();
  await world.pass(1000);
  expect([await names(world, Secret), await names(world)]).toEqual([['a'], []]);
});

rule('retries a rejected request later without delaying other objects', async (world) => {
  world.interfere = ({ method, path }) =>
    method === 'DELETE' && path.endsWith('/configmaps/b') ? refuse(403, 'Forbidden') : undefined;
  await make(world, ConfigMap, 'b', ghost());
  await make(world, ConfigMap, 'c', ghost());
  await world.pass(600_000);
  expect(await names(world)).toEqual(['b']);
  expect(world.writes().length).toBeLessThan(20);
  world.interfere = () => undefined;
  await world.pass(600_000);
  expect(await names(world)).toEqual([]);
});

/** Deletes Secret a in the foreground while ConfigMap b blocks it, then starts a new process. */
async function restartWhileHeld(
  world: World,
  then: (ctx: (length: number) => Promise<void>) => Promise<void>,
) {
  const owner = await make(world, Secret, 'a');
  const ownerReferences = [ownedBy(Secret, owner, { blockOwnerDeletion: true })];
  const metadata = { name: 'b', namespace: 'default', finalizers: ['x.dev/hold'], ownerReferences };
  await create(world, ConfigMap, { metadata });
  await world.user.delete(Secret, keyOf(owner), { propagation: 'Foreground' });
  await world.pass(1000);
  const { clock, client } = world;
  const stopped = world.manager.stop();
  await clock.advance(millis(20_000), world.settle);
  await stopped;
  const next = new Manager({ clock, client, random: seededRandom(7), controllers: [createOwnerGc()] });
  const settle = async () => {
    for (let quiet = 0; quiet < 4; quiet = isIdle(next.activity()) ? quiet + 1 : 0) await world.settle();
  };
  await then(async (length) => {
    if (next.phase === 'new') next.start();
    await clock.advance(millis(length), settle);
  });
  const ended = next.stop();
  await clock.advance(millis(20_000), settle);
  await ended;
}
const letGo = (world: World) =>
  world.user.patch(
    ConfigMap,
    { namespace: 'default', name: 'b' },
    { type: 'merge', patch: { metadata: { finalizers: null } } },
  );
const both = async (world: World) => [await names(world, Secret), await names(world)];

rule('completes a foreground deletion after a restart', (world) =>
  restartWhileHeld(world, async (ctx) => {
    await ctx(1000);
    expect(await both(world)).toEqual([['a'], ['b']]);
    await letGo(world);
    await ctx(1000);
    expect(await both(world)).toEqual([[], []]);
  }),
);

rule('releases no object before all kinds of possible dependents are listed', (world) =>
  restartWhileHeld(world, async (ctx) => {
    world.interfere = ({ method, path }) =>
      method === 'GET' && path.includes('/configmaps') ? refuse(503, 'ServiceUnavailable') : undefined;
    await ctx(20_000);
    expect(await both(world)).toEqual([['a'], ['b']]);
    world.interfere = () => undefined;
    await ctx(60_000);
    expect(await both(world)).toEqual([['a'], ['b']]);
    await letGo(world);
    await ctx(1000);
    expect(await both(world)).toEqual([[], []]);
  }),
);

rule('does not retry a cluster-scoped object with a namespaced owner', async (world) => {
  const owner = await make(world, Secret, 'a');
  await create(world, Namespace, { metadata: { name: 'n', ownerReferences: [ownedBy(Secret, owner)] } });
  await world.pass(600_000);
  const seen = world.reconciles
    .filter(({ key }) => key === 'namespaces/n')
    .map(({ outcome }) => outcome.kind);
  expect(seen).toEqual(['settled']);
});

rule('emits an Event for an owner in another namespace', async (world) => {
  const owner = await make(world, Secret, 'a');
  await create(world, ConfigMap, {
    metadata: { name: 'b', namespace: 'kube-public', ownerReferences: [ownedBy(Secret, owner)] },
  });
  await world.pass(1000);
  expect(world.notes).toEqual(['b Warning OwnerRefInvalidNamespace']);
});

rule('writes nothing in a second reconcile', async (world) => {
  const owner = await make(world, Secret, 'a');
  await make(world, ConfigMap, 'b', ownedBy(Secret, owner), ghost());
  await make(world, ConfigMap, 'c', ownedBy(Secret, owner));
  await world.pass(60_000);
  const before = world.writes().length;
  world.manager.enqueueAll('double run');
  await world.pass(60_000);
  expect(world.writes().length).toBe(before);
});

rule('deletes three hundred dependents with few requests', async (world) => {
  const owner = await make(world, Secret, 'a');
  await Promise.all(
    Array.from({ length: 300 }, (_, i) => make(world, ConfigMap, `c${i}`, ownedBy(Secret, owner))),
  );
  await world.pass(1000);
  const before = world.requests.length;
  await world.user.delete(Secret, keyOf(owner));
  await world.pass(1000);
  expect(await names(world)).toEqual([]);
  // One DELETE each, and a few GETs of the owner.
  expect(world.requests.length - before).toBeLessThan(320);
});
