// Which objects a request selects, and which of them its author may read: tables with discovery and reviews as data.

import type { KubeObject } from '@lapse/kube/api/object';
import type { Discovery, KindQuery, ServedKind } from '@lapse/kube/client/discovery';
import { describe, expect, test } from 'vitest';
import type { Need } from '#authors/accessReview';
import { describeIdentity } from '#checkpoint/identity';
import { isFailure } from '#requests/refusal';
import { request } from './manifest.testkit.ts';
import type { ManifestPolicy } from './policy.ts';
import { describeMissing, reviewTargets } from './rights.ts';
import { findTargets, type Target } from './targets.ts';

const served = (text: string, namespaced = true, verbs = ['get', 'list']): ServedKind => {
  const [kind = '', ...group] = text.split('.');
  return {
    group: group.join('.'),
    version: 'v1',
    kind,
    resource: `${kind.toLowerCase()}s`,
    namespaced,
    verbs,
    shortNames: [],
    categories: [],
    singular: '',
    subresources: [],
  };
};
const KINDS = [
  served('ConfigMap'),
  served('Secret'),
  served('Deployment.apps'),
  served('Review', true, ['create']),
  served('Namespace', false),
  served('Node', false),
];

class Kinds implements Discovery {
  readonly kinds: ServedKind[];
  asked = 0;
  /** Kinds that are found only after the discovery cache is invalidated. */
  readonly younger: readonly ServedKind[];
  constructor(kinds: readonly ServedKind[] = KINDS, younger: readonly ServedKind[] = []) {
    this.kinds = [...kinds];
    this.younger = younger;
  }
  async find({ group, version, kind }: KindQuery): Promise<ServedKind | undefined> {
    this.asked++;
    return this.kinds.find((one) => one.group === group && one.version === version && one.kind === kind);
  }
  all = async () => this.kinds;
  isUnavailable = async () => false;
  markStale(): void {}
  invalidate(): void {
    this.kinds.push(...this.younger);
  }
}

const POLICY: ManifestPolicy = {
  secrets: 'include',
  profile: 'verbatim',
  authorization: 'Controller',
  allowedKinds: [],
  retention: { mode: 'FollowObject' },
};

const find = (
  texts: readonly string[],
  policy: Partial<ManifestPolicy> = {},
  kinds: Discovery = new Kinds(),
) => findTargets(request(...texts), kinds, { ...POLICY, ...policy });

describe('targets', () => {
  test.each<[string, string[], string[]]>([
    [
      'sorted by apiVersion, kind and name',
      ['v1 ConfigMap b', 'v1 ConfigMap a', 'apps/v1 Deployment z'],
      ['apps/v1 Deployment shop/z', 'v1 ConfigMap shop/a', 'v1 ConfigMap shop/b'],
    ],
    ['each once', ['v1 ConfigMap a', 'v1 ConfigMap a'], ['v1 ConfigMap shop/a']],
    [
      'the namespace itself',
      ['v1 Namespace shop', 'v1 ConfigMap a'],
      ['v1 ConfigMap shop/a', 'v1 Namespace shop'],
    ],
  ])('%s', async (_rule, wanted, found) => {
    const targets = await find(wanted);
    expect(isFailure(targets) ? targets : targets.map(describeIdentity)).toEqual(found);
  });

  test.each<[string, string[], RegExp, Partial<ManifestPolicy>?]>([
    ['no targets at all', [], /spec.targets is empty/],
    ['a kind that is not served', ['example.com/v1 Wardrobe a'], /Wardrobe a: no such kind is served/],
    ['a version that is not served', ['v2 ConfigMap a'], /no such kind is served/],
    ['an invalid apiVersion string', ['a/b/c ConfigMap a'], /not group\/version/],
    ['an empty version', ['apps/ Deployment a'], /not group\/version/],
    ['a cluster-scoped kind', ['v1 Node n1'], /it is in no namespace; only Namespace shop itself/],
    ['another namespace', ['v1 Namespace kube-system'], /only Namespace shop itself/],
    ['a kind that can only be created', ['v1 Review a'], /cannot be read/],
    ['a path', ['v1 ConfigMap ../secrets/db'], /cannot be a name/],
    ['an escape', ['v1 ConfigMap %2e%2e'], /cannot be a name/],
    ['two dots', ['v1 ConfigMap ..'], /cannot be a name/],
    ['a Secret in mode refuse', ['v1 Secret db'], /Secrets are not captured here/, { secrets: 'refuse' }],
    [
      'a kind that is not on the list',
      ['v1 ConfigMap a', 'v1 Secret db'],
      /Secret db: Secret is not among capture.allowedKinds/,
      { authorization: 'AllowList', allowedKinds: ['ConfigMap', 'Deployment.apps'] },
    ],
    [
      'a kind of the same name in another group',
      ['apps/v1 Deployment a'],
      /Deployment.apps is not among/,
      { authorization: 'AllowList', allowedKinds: ['Deployment'] },
    ],
  ])('refused: %s', async (_what, wanted, why, policy) => {
    const refused = await find(wanted, policy);
    expect(isFailure(refused) ? refused.message : refused).toMatch(why);
  });

  test('a listed kind is captured', async () => {
    const policy = { authorization: 'AllowList', allowedKinds: ['Deployment.apps'] } as const;
    expect(await find(['apps/v1 Deployment a'], policy)).toHaveLength(1);
  });
  test('a kind that is newer than the discovery cache is found', async () => {
    const kinds = new Kinds([], [served('ConfigMap')]);
    expect(await find(['v1 ConfigMap a'], {}, kinds)).toHaveLength(1);
  });
  test('each kind is looked up once, regardless of the number of objects', async () => {
    const kinds = new Kinds();
    await find(
      Array.from({ length: 500 }, (_, i) => `v1 ConfigMap c${i}`),
      {},
      kinds,
    );
    expect(kinds.asked).toBe(1);
  });
});

describe('rights of the author', () => {
  const bob = { username: 'bob', groups: ['dev'] };
  /** An API server that allows these, such as `secrets` or `secrets/db`. */
  function reviewer(...allowed: string[]) {
    const asked: string[] = [];
    const create = async (_kind: unknown, review: KubeObject) => {
      const { resourceAttributes: need, user } = review['spec'] as { resourceAttributes: Need; user: string };
      const { resource, namespace, name } = need;
      asked.push(`${user} ${need.verb} ${namespace}/${resource}${name === undefined ? '' : `/${name}`}`);
      const is = allowed.includes(resource) || allowed.includes(`${resource}/${name}`);
      return { kind: 'created', object: { ...review, status: { allowed: is } } };
    };
    return { client: { create } as never, asked };
  }
  const targets = async (...texts: string[]) => (await find(texts)) as readonly Target[];

  test('a kind that may be read as a whole is reviewed once', async () => {
    const { client, asked } = reviewer('configmaps');
    expect(await reviewTargets(client, bob, await targets('v1 ConfigMap a', 'v1 ConfigMap b'))).toEqual([]);
    expect(asked).toEqual(['bob get shop/configmaps']);
  });
  test('other kinds are reviewed by name', async () => {
    const { client } = reviewer('configmaps', 'secrets/db');
    const missing = await reviewTargets(
      client,
      bob,
      await targets('v1 Secret db', 'v1 Secret root', 'v1 ConfigMap a'),
    );
    expect(missing.map(({ name }) => name)).toEqual(['root']);
    expect(describeMissing(bob, missing)).toBe('bob may not get secrets root in namespace shop');
  });
  test('a Namespace counts as part of itself', async () => {
    const { client, asked } = reviewer('namespaces');
    await reviewTargets(client, bob, await targets('v1 Namespace shop'));
    expect(asked).toEqual(['bob get shop/namespaces']);
  });
  test('a message names a limited number of objects', async () => {
    const { client } = reviewer();
    const many = await targets(...Array.from({ length: 30 }, (_, i) => `v1 Secret s${i}`));
    expect(describeMissing(bob, await reviewTargets(client, bob, many))).toMatch(/, and 20 more$/);
  });
});
