// From statements to a plan: each object once, by its earliest deletion, with its dependents; followers are evaluated
// again.

import { type Instant, instant, minutes } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { describe, expect, test } from 'vitest';
import type { Family } from '#controllers/family';
import { type ForecastContext, type Forecaster, type Statement, Unreadable } from '#controllers/forecaster';
import { Owners } from './cascade/read.ts';
import { makePlan, type PlanOptions } from './makePlan.ts';
import type { Plan } from './plan.ts';
import { createSnapshot } from './snapshot.ts';

const NOW = instant(1_000_000);
const at = (minute: number): Instant => instant(NOW + minute * 60_000);

const map: ServedKind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
  verbs: ['delete', 'list', 'watch'],
  shortNames: [],
  categories: [],
  singular: '',
  subresources: [],
};
const named = (name: string, namespace = 'ns') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace,
  name,
  uid: name,
});
const ends = (name: string, minute: number, namespace?: string): Statement => ({
  kind: 'deleted',
  object: named(name, namespace),
  rule: 'r',
  because: 'b',
  at: at(minute),
  propagation: 'Background',
});
const held = (name: string, namespace?: string): Statement => ({
  kind: 'held',
  object: named(name, namespace),
  rule: 'r',
  because: 'h',
});

const family = (
  name: string,
  forecast: (forecastContext: ForecastContext) => readonly Statement[],
  more: Partial<Forecaster> = {},
): Family => ({
  name,
  description: '',
  defaultOn: true,
  kinds: [],
  gates: [],
  configuration: {},
  create: () => ({ controllers: [], admission: [] }),
  forecaster: {
    async *forecast(forecastContext) {
      yield* forecast(forecastContext);
    },
    ...more,
  },
});

const owned = (name: string, ...owners: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'ns',
    uid: name,
    ownerReferences: owners.map((uid) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid })),
  } as ObjectMeta,
});

function plan(
  selected: readonly Family[],
  world: readonly KubeObject[] = [],
  more: Partial<PlanOptions> = {},
): Promise<Plan> {
  const snapshot = createSnapshot([map], async ({ projection }) => {
    for (const object of world) (projection as { project(one: KubeObject): KubeObject }).project(object);
    return [];
  });
  return makePlan({
    snapshot,
    owners: new Owners([map]),
    now: NOW,
    until: at(60),
    cluster: 'c',
    general: { featureGates: {}, maxClockSkew: minutes(1), actAs: 'controller' },
    document: {},
    known: [],
    selected,
    ...more,
  });
}

const shown = ({ deletions: all }: Plan) =>
  all.map(
    (end) =>
      `${end.family} ${end.object.name} +${(end.at - NOW) / 60_000} [${end.dependents.map(({ object }) => object.name).join()}]`,
  );

describe('deletions in a plan', () => {
  test('are in the order of time, overdue ones first, and counted beyond the horizon', async () => {
    const made = await plan([family('f', () => [ends('b', 5), ends('a', -1), ends('z', 61), ends('y', 60)])]);
    expect(shown(made)).toEqual(['f a +-1 []', 'f b +5 []', 'f y +60 []']);
    expect(made.more).toBe(1);
  });

  test('contain each object once, by the earliest rule', async () => {
    const made = await plan([
      family('late', () => [ends('a', 5), ends('z', 99)]),
      family('early', () => [ends('a', 3), ends('z', 70)]),
    ]);
    expect(shown(made)).toEqual(['early a +3 []']);
    expect(made.more).toBe(1);
  });

  test('do not repeat an object that is deleted with its owner first', async () => {
    const made = await plan(
      [family('f', () => [ends('a', 3), ends('b', 5)])],
      [owned('b', 'a'), owned('c', 'b')],
    );
    expect(shown(made)).toEqual(['f a +3 [b,c]']);
  });

  test('list an object with its own rule at the time of its owner separately', async () => {
    const made = await plan(
      [family('f', () => [ends('a', 3), ends('b', 3)])],
      [owned('b', 'a'), owned('c', 'b')],
    );
    expect(shown(made)).toEqual(['f a +3 []', 'f b +3 [c]']);
  });

  test('include a dependent with the later of its two owners', async () => {
    const made = await plan(
      [family('f', () => [ends('a', 3), ends('b', 5)])],
      [owned('c', 'a', 'b'), owned('b')],
    );
    expect(shown(made)).toEqual(['f a +3 []', 'f b +5 [c]']);
  });

  test('report a foreign finalizer', async () => {
    const kept = { ...owned('a'), metadata: { ...owned('a').metadata, finalizers: ['x.dev/hold'] } };
    const made = await plan([family('f', () => [ends('a', 3)])], [kept]);
    expect(made.deletions[0]?.because).toBe('b; the finalizer x.dev/hold keeps it then');
  });
});

test('include everything in a deleted namespace, also objects that were read before', async () => {
  const space: ServedKind = { ...map, kind: 'Namespace', resource: 'namespaces', namespaced: false };
  const served = [map, space];
  const owners = new Owners(served);
  for (const one of [owned('a'), owned('b', 'a')]) owners.see(map, one);
  owners.saw({ kind: map });
  const snapshot = createSnapshot(served, async ({ kind, projection }) => {
    const world = (kind as Kind).kind === 'ConfigMap' ? [owned('a'), owned('b', 'a')] : [];
    for (const object of world) (projection as { project(one: KubeObject): KubeObject }).project(object);
    return [];
  });
  const end: Statement = {
    ...(ends('ns', 3) as Extract<Statement, { kind: 'deleted' }>),
    object: { apiVersion: 'v1', kind: 'Namespace', name: 'ns', uid: 'ns-uid' },
  };
  expect(shown(await plan([family('f', () => [end])], [], { snapshot, owners }))).toEqual(['f ns +3 [a,b]']);
});

describe('held and changes', () => {
  test('an object that is deleted by another rule is not held', async () => {
    const made = await plan(
      [family('f', () => [held('a'), held('b'), held('c'), ends('b', 1)])],
      [owned('c', 'b')],
    );
    expect(made.held.map(({ object }) => object.name)).toEqual(['a']);
  });

  test('changes within the horizon are in order', async () => {
    const change = (name: string, minute: number): Statement => ({
      kind: 'changes',
      object: named(name),
      rule: 'r',
      because: 'b',
      at: at(minute),
    });
    const made = await plan([family('f', () => [change('b', 9), change('a', 2), change('z', 61)])]);
    expect(made.changes?.map(({ object }) => object.name)).toEqual(['a', 'b']);
  });
});

describe('followers', () => {
  const follows = (name: string, followed: string) =>
    family(
      `of ${followed}`,
      ({ endOf }) => {
        const end = endOf(followed);
        return end === undefined ? [held(name)] : [{ ...ends(name, 0), at: end } as Statement];
      },
      { followsOthers: true },
    );

  test('are deleted with the objects they follow, together with their followers and dependents', async () => {
    const made = await plan(
      [follows('second', 'child'), follows('first', 'a'), family('f', () => [ends('a', 7)])],
      [owned('child', 'first'), owned('grandchild', 'second')],
    );
    expect(shown(made).sort()).toEqual([
      'f a +7 []',
      'of a first +7 [child]',
      'of child second +7 [grandchild]',
    ]);
    expect(made.held).toEqual([]);
  });

  test('of overdue objects are deleted now, not in the past', async () => {
    const made = await plan([follows('first', 'a'), family('f', () => [ends('a', -7)])]);
    expect(shown(made)).toEqual(['f a +-7 []', 'of a first +0 []']);
  });

  test('of objects that may be deleted may be deleted too', async () => {
    const orphaning = { ...ends('x', 7), propagation: 'Orphan' } as Statement;
    const follower = family(
      'follows',
      ({ mayEndAt }) => {
        const at = mayEndAt?.('child');
        return at === undefined ? [] : [{ ...ends('first', 0), at, uncertain: true } as Statement];
      },
      { followsOthers: true },
    );
    const made = await plan(
      [follower, family('f', () => [ends('a', 7), orphaning])],
      [owned('a'), owned('x'), owned('first'), owned('child', 'a', 'x'), owned('own', 'first')],
    );
    expect(shown(made)).toEqual(['f a +7 [child]', 'f x +7 []', 'follows first +7 [own]']);
    expect(made.deletions.map(({ uncertain, dependents }) => [uncertain, dependents[0]?.uncertain])).toEqual([
      [undefined, true],
      [undefined, undefined],
      [true, true],
    ]);
  });

  test('are kept as long as the objects they follow', async () => {
    expect((await plan([follows('first', 'a')])).held.map(({ object }) => object.name)).toEqual(['first']);
  });
});

describe('restricted and unreadable input', () => {
  test('a plan for a namespace contains deletions in it, and deletions that include objects in it', async () => {
    const selected = [
      family('f', () => [
        ends('a', 1),
        // Cluster-scoped: its dependents may be in any namespace.
        { ...ends('b', 2), object: { apiVersion: 'v1', kind: 'Keeper', name: 'b', uid: 'b' } },
        ends('d', 2, 'other'),
        held('c', 'other'),
        ends('z', 99, 'other'),
      ]),
    ];
    const made = await plan(selected, [owned('x', 'b')], { view: 'ns' });
    expect([shown(made), made.held, made.more]).toEqual([['f a +1 []', 'f b +2 [x]'], [], 0]);
  });

  test('an unreadable source is reported, and the other forecasts are used', async () => {
    const silent = family('f', () => {
      throw new Unreadable('jobs: forbidden');
    });
    const made = await plan([silent, family('g', () => [ends('a', 1)])]);
    expect(made.unread).toEqual(['f: jobs: forbidden']);
    expect(shown(made)).toEqual(['g a +1 []']);
  });

  test('an owner of a kind that cannot be read is assumed to exist', async () => {
    const secret: ServedKind = { ...map, kind: 'Secret', resource: 'secrets' };
    const served = [map, secret];
    const child = owned('child', 'a');
    child.metadata.ownerReferences!.push({ apiVersion: 'v1', kind: 'Secret', name: 's', uid: 's' });
    const snapshot = createSnapshot(served, async ({ kind, projection }) => {
      if ((kind as Kind).kind === 'Secret') throw new Unreadable('secrets: forbidden');
      (projection as { project(one: KubeObject): KubeObject }).project(child);
      return [];
    });
    const made = await plan([family('g', () => [ends('a', 1)])], [], {
      snapshot,
      owners: new Owners(served),
    });
    expect(shown(made)).toEqual(['g a +1 []']);
    expect(made.unread).toEqual(['what is owned: secrets: forbidden']);
  });
});
