import { minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { describe, expect, test } from 'vitest';
import type { TTLPolicyStatus } from '#api/ttlPolicy';
import { describeNeeds, type Need } from '#authors/accessReview';
import { AUTHOR_ANNOTATION } from '#authors/authorSeal';
import { run, ttlPolicy } from '../../../../../test/scenarios/pipelineRuns.ts';
import { FAMILIES } from '../registry.ts';
import { policyAuthor } from './admission.ts';
import { type CompiledPolicy, compilePolicy } from './compile.ts';
import { clusterPolicy, compiled, policy } from './policy.testkit.ts';
import { type Law, lawfulCluster, request, review, underLaw } from './rights.testkit.ts';
import { computeNeeds, computeRefusedKind, signedOf } from './rights.ts';

const compiledCluster = (spec: object): CompiledPolicy => {
  const result = compilePolicy(clusterPolicy(spec));
  if (result.kind === 'invalid') throw new Error('invalid');
  return result.policy;
};

describe('the required permissions', () => {
  const runs = { group: 'tekton.dev', resource: 'pipelineruns', namespaced: true };
  const nodes = { group: '', resource: 'nodes', namespaced: false };
  const account = { serviceAccountName: 'cleanup' };
  const inCi = 'pipelineruns.tekton.dev in namespace ci';
  const impersonate = (ns: string) => `impersonate serviceaccounts cleanup in namespace ${ns}`;
  test.each<[string, CompiledPolicy, typeof runs, 'author' | 'controller', string, string, string]>([
    [
      'the author lists and deletes, Lapse reads and deletes',
      compiled(),
      runs,
      'author',
      `list ${inCi}, watch ${inCi}, delete ${inCi}`,
      `list ${inCi}, delete ${inCi}`,
      '',
    ],
    [
      'with actAs controller, only Lapse needs permissions',
      compiled(),
      runs,
      'controller',
      `list ${inCi}, watch ${inCi}, delete ${inCi}`,
      '',
      '',
    ],
    [
      'with a service account, the author may impersonate it, and it lists and deletes',
      compiled(account),
      runs,
      'author',
      `list ${inCi}, watch ${inCi}, ${impersonate('ci')}`,
      impersonate('ci'),
      `list ${inCi}, delete ${inCi}`,
    ],
    [
      'with a service account and actAs controller, the author needs none',
      compiled(account),
      runs,
      'controller',
      `list ${inCi}, watch ${inCi}, ${impersonate('ci')}`,
      '',
      `list ${inCi}, delete ${inCi}`,
    ],
    [
      'a ClusterTTLPolicy needs cluster-wide permissions',
      compiledCluster({}),
      runs,
      'author',
      'list pipelineruns.tekton.dev, watch pipelineruns.tekton.dev, delete pipelineruns.tekton.dev',
      'list pipelineruns.tekton.dev, delete pipelineruns.tekton.dev',
      '',
    ],
    [
      'the service account of a ClusterTTLPolicy is in the namespace that it names',
      compiledCluster({ ...account, serviceAccountNamespace: 'ops' }),
      nodes,
      'author',
      `list nodes, watch nodes, ${impersonate('ops')}`,
      impersonate('ops'),
      'list nodes, delete nodes',
    ],
  ])('%s', (_rule, p, target, actAs, self, author, of) => {
    const needs = computeNeeds(p, target, actAs);
    expect([describeNeeds(needs.self), describeNeeds(needs.author), describeNeeds(needs.account)]).toEqual([
      self,
      author,
      of,
    ]);
  });
});

test('a policy cannot delete kinds of Lapse', () => {
  const kinds = FAMILIES.flatMap(({ kinds }) => kinds).map(({ kind }) => kind);
  expect(kinds.length).toBeGreaterThan(3);
  for (const { group, version, kind } of kinds) {
    const p = compiled({ target: { apiVersion: `${group}/${version}`, kind } });
    expect([kind, computeRefusedKind(p)?.reason]).toEqual([kind, 'KindRefused']);
  }
  expect(computeRefusedKind(compiled())).toBeUndefined();
});

test('the signature excludes default values and includes all others', () => {
  const { spec, ...rest } = policy({ finishedAt: 'object.status.x' });
  const defaulted = {
    ...rest,
    spec: { ...spec, allowOverrides: false, from: 'Finished', propagationPolicy: 'Background' } as never,
  };
  expect(signedOf(defaulted)).toEqual(signedOf({ ...rest, spec }));
  expect(signedOf({ ...rest, spec: { ...spec, allowOverrides: true } })).not.toEqual(
    signedOf({ ...rest, spec }),
  );
});

const statusOf = async (get: (ref: string) => Promise<KubeObject | undefined>): Promise<TTLPolicyStatus> =>
  ((await get('ttlpolicy/runs')) as { status?: TTLPolicyStatus }).status ?? {};
const isReviewed =
  (who: string): Law =>
  (asking) =>
    asking !== who;

/** Runs a scenario in a cluster with a finished run. `readState`: the Ready condition, and whether the run exists. */
async function inCluster(
  actAs: 'author' | 'controller',
  scenario: (
    cluster: Awaited<ReturnType<typeof lawfulCluster>> & { readState(): Promise<string> },
  ) => Promise<void>,
): Promise<void> {
  const cluster = await lawfulCluster(actAs);
  const { simulation } = cluster;
  const readState = async () => {
    await simulation.settle();
    const [ready] = (await statusOf((ref) => simulation.get(ref))).conditions ?? [];
    const exists = (await simulation.get('pipelinerun/a')) !== undefined;
    return `${ready?.status} ${ready?.reason} ${exists ? 'kept' : 'gone'}`;
  };
  try {
    await simulation.apply(run('a', { finished: seconds(0) }));
    await scenario({ ...cluster, readState });
  } finally {
    await simulation.close();
  }
}

describe('without a webhook', () => {
  test('a policy without a verified author deletes nothing', () =>
    inCluster('author', async ({ simulation, readState }) => {
      await simulation.apply(ttlPolicy('runs'));
      await simulation.timePasses(minutes(20));
      expect(await readState()).toBe('False AuthorUnknown kept');
      expect(simulation.requests.filter(({ path }) => path.includes('pipelineruns'))).toEqual([]);
    }));
  test('a policy with a forged author or the author of another policy deletes nothing', () =>
    inCluster('author', async ({ simulation, readState, by }) => {
      const other = await by('jane', ttlPolicy('other', { ttl: '1m' }));
      const stolen = other.metadata.annotations?.[AUTHOR_ANNOTATION] ?? '';
      for (const author of [stolen, '{"username":"admin","groups":["system:masters"],"seal":"x"}', 'admin']) {
        await simulation.apply(
          ttlPolicy('runs', { ttl: '1m' }, { annotations: { [AUTHOR_ANNOTATION]: author } }),
        );
        await simulation.timePasses(minutes(20));
        expect(await readState()).toBe('False AuthorUnknown kept');
      }
    }));
  test('a policy whose spec was changed after it was signed deletes nothing', () =>
    inCluster('author', async ({ simulation, readState, by }) => {
      await simulation.apply(await by('jane', ttlPolicy('runs', { ttl: '1h' })));
      await simulation.timePasses(minutes(10));
      expect(await readState()).toBe('True Enforcing kept');
      await simulation.patch('ttlpolicy/runs', { spec: { ttl: '1m' } });
      await simulation.timePasses(minutes(20));
      expect(await readState()).toBe('False AuthorUnknown kept');
    }));
  test('a policy with its author works, and a change of labels does not matter', () =>
    inCluster('author', async ({ simulation, readState, by, state }) => {
      await simulation.apply(await by('jane', ttlPolicy('runs')));
      await simulation.patch('ttlpolicy/runs', { metadata: { labels: { team: 'web' } } });
      await simulation.timePasses(minutes(11));
      expect(await readState()).toBe('True Enforcing gone');
      expect(state.asked).toContain('jane delete pipelineruns');
    }));
  test('a policy needs no author with actAs controller', () =>
    inCluster('controller', async ({ simulation, readState, state }) => {
      await simulation.apply(ttlPolicy('runs'));
      await simulation.timePasses(minutes(11));
      expect(await readState()).toBe('True Enforcing gone');
      expect(new Set(state.asked.map((text) => text.split(' ')[0]))).toEqual(new Set(['self']));
    }));
});

describe('changing permissions', () => {
  test('the policy stops when its author loses a permission, and continues when it is granted again', () =>
    inCluster('author', async ({ simulation, readState, by, state }) => {
      await simulation.apply(await by('jane', ttlPolicy('runs', { ttl: '1h' })));
      await simulation.timePasses(minutes(1));
      expect(await readState()).toBe('True Enforcing kept');
      state.law = isReviewed('jane');
      await simulation.timePasses(minutes(70));
      expect(await readState()).toBe('False AuthorNotPermitted kept');
      const { conditions } = await statusOf((ref) => simulation.get(ref));
      expect(conditions?.[0]?.message).toBe(
        'jane may not list pipelineruns.tekton.dev in namespace default, delete pipelineruns.tekton.dev in namespace default',
      );
      state.law = () => true;
      await simulation.timePasses(minutes(1));
      expect(await readState()).toBe('True Enforcing gone');
    }));
  test('a policy with a service account without permissions reads and deletes nothing until they are granted', () =>
    inCluster('author', async ({ simulation, readState, by, state }) => {
      const account = 'system:serviceaccount:default:cleanup';
      state.law = isReviewed(account);
      await simulation.apply(await by('jane', ttlPolicy('runs', { serviceAccountName: 'cleanup' })));
      await simulation.timePasses(minutes(20));
      expect(await readState()).toBe('False AccountNotPermitted kept');
      expect(simulation.requests.filter(({ path }) => path.includes('pipelineruns'))).toEqual([]);
      state.law = () => true;
      await simulation.timePasses(minutes(1));
      expect(await readState()).toBe('True Enforcing gone');
      expect(state.impersonated).toEqual(['default/cleanup']);
    }));
  test('a policy is refused if its author may not impersonate its service account', () =>
    inCluster('author', async ({ simulation, readState, by, state }) => {
      state.law = (who, { verb }) => who !== 'jane' || verb !== 'impersonate';
      await simulation.apply(await by('jane', ttlPolicy('runs', { serviceAccountName: 'cleanup' })));
      await simulation.timePasses(minutes(20));
      expect(await readState()).toBe('False AuthorNotPermitted kept');
    }));
  test('a policy is refused while the controller lacks permissions', () =>
    inCluster('controller', async ({ simulation, readState, state }) => {
      state.law = (_who, { verb }: Need) => verb !== 'watch';
      await simulation.apply(ttlPolicy('runs'));
      await simulation.timePasses(minutes(20));
      expect(await readState()).toBe('False NotPermitted kept');
      state.law = () => true;
      await simulation.timePasses(minutes(1));
      expect(await readState()).toBe('True Enforcing gone');
    }));
  test('a failed review does not count as allowed', () =>
    inCluster('controller', async ({ simulation, readState, state }) => {
      state.law = () => {
        throw new Error('the reviewer is away');
      };
      await simulation.apply(ttlPolicy('runs'));
      await simulation.timePasses(minutes(20));
      expect(await readState()).toBe('undefined undefined kept');
    }));
});

describe('admission', () => {
  const withLaw = async (
    law: Law,
    scenario: (options: Parameters<typeof review>[0]) => Promise<void>,
    actAs: 'author' | 'controller' = 'author',
  ) => {
    const { simulation, seal } = await lawfulCluster();
    try {
      // Discovery caches for a while that a kind is missing.
      await simulation.timePasses(seconds(10));
      await scenario({
        client: underLaw(simulation.user, () => law),
        actAs,
        seal,
        impersonation: { kind: 'cluster' },
      });
    } finally {
      await simulation.close();
    }
  };
  const mayAll: Law = () => true;
  const mayNothing: Law = () => false;

  test('refuses with the field, the author and the missing permissions', () =>
    withLaw(mayNothing, async (options) => {
      expect(await review(options, ttlPolicy('runs'), 'jane')).toMatchObject({
        allowed: false,
        code: 422,
        message: expect.stringContaining(
          'spec.target: Forbidden: jane may not list pipelineruns.tekton.dev in namespace default, delete',
        ),
        details: { causes: [{ field: 'spec.target' }] },
      });
      expect(await review(options, ttlPolicy('runs', { serviceAccountName: 'x' }), 'jane')).toMatchObject({
        message: expect.stringContaining(
          'spec.serviceAccountName: Forbidden: jane may not impersonate serviceaccounts x',
        ),
      });
      expect(await review(options, ttlPolicy('runs', { finishedAt: 'objekt' }), 'jane')).toMatchObject({
        details: { causes: [{ field: 'spec.finishedAt' }] },
      });
    }));
  test('refuses a policy with a service account while impersonation is disabled, and says what to do', () =>
    withLaw(mayAll, async (options) => {
      const off = { ...options, impersonation: { kind: 'none' } as const };
      expect(await review(off, ttlPolicy('runs', { serviceAccountName: 'x' }), 'jane')).toMatchObject({
        allowed: false,
        message: expect.stringContaining('set ttlPolicy.impersonation to {namespaces: [default]} or cluster'),
      });
      expect(await review(off, ttlPolicy('runs'), 'jane')).toMatchObject({ allowed: true });
    }));
  test('allows a policy whose author has the permissions, and any policy with actAs controller', () =>
    withLaw(mayAll, async (options) => {
      expect(await review(options, ttlPolicy('runs'), 'jane')).toEqual({ allowed: true, warnings: [] });
    }).then(() =>
      withLaw(
        mayNothing,
        async (options) => {
          expect(await review(options, ttlPolicy('runs'), 'jane')).toMatchObject({ allowed: true });
        },
        'controller',
      ),
    ));
  test('warns about a service account without permissions and about a kind that is not served', () =>
    withLaw(
      (who) => who === 'jane',
      async (options) => {
        expect(await review(options, ttlPolicy('runs', { serviceAccountName: 'x' }), 'jane')).toMatchObject({
          allowed: true,
          warnings: [expect.stringContaining('service account default/x may not list')],
        });
        const target = { apiVersion: 'example.com/v1', kind: 'Later' };
        expect(await review(options, ttlPolicy('runs', { target }), 'bob')).toMatchObject({
          allowed: true,
          warnings: [expect.stringContaining('example.com/v1 Later is not served yet')],
        });
      },
    ));
  test('does not review an update that keeps the spec, nor a deletion', () =>
    withLaw(mayNothing, async (options) => {
      const old = ttlPolicy('runs', { finishedAt: 'objekt' });
      const next = { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } };
      expect(await review(options, next, 'jane', { operation: 'UPDATE', oldObject: old })).toEqual({
        allowed: true,
      });
      expect(
        await review(options, old, 'jane', { operation: 'DELETE', object: null, oldObject: old }),
      ).toEqual({ allowed: true });
    }));
  test('makes the last user who changed the spec the author, and refuses or drops a forged annotation', () =>
    withLaw(mayAll, async (options) => {
      const author = policyAuthor(options);
      const forged = ttlPolicy(
        'runs',
        {},
        { annotations: { [AUTHOR_ANNOTATION]: '{"username":"root"}', a: 'b' } },
      );
      expect(await author.review(request(forged, 'jane'))).toMatchObject({
        allowed: false,
        message: expect.stringContaining(
          'metadata.annotations[lapse.dev/author]: Forbidden: is not a signature',
        ),
      });
      const made = await author.review(request(ttlPolicy('runs', {}, { annotations: { a: 'b' } }), 'jane'));
      if (!made.allowed) throw new Error('refused');
      const written = made.object!;
      expect(JSON.parse(written.metadata.annotations![AUTHOR_ANNOTATION]!)).toMatchObject({
        username: 'jane',
      });
      expect(written.metadata.annotations!['a']).toBe('b');
      const touched = {
        ...written,
        metadata: { ...written.metadata, annotations: { [AUTHOR_ANNOTATION]: 'x' } },
      };
      const kept = await author.review(request(touched, 'bob', { operation: 'UPDATE', oldObject: written }));
      expect(kept).toMatchObject({
        object: {
          metadata: {
            annotations: { [AUTHOR_ANNOTATION]: written.metadata.annotations![AUTHOR_ANNOTATION] },
          },
        },
      });
      const changed = { ...written, spec: { ...(written['spec'] as object), ttl: '1s' } };
      const taken = await author.review(request(changed, 'bob', { operation: 'UPDATE', oldObject: written }));
      if (!taken.allowed) throw new Error('refused');
      expect(JSON.parse(taken.object!.metadata.annotations![AUTHOR_ANNOTATION]!)).toMatchObject({
        username: 'bob',
      });
    }));
  test('makes the user who claims a policy its author, and requires the permissions', () =>
    withLaw(
      (who) => who !== 'bob',
      async (options) => {
        const old = ttlPolicy('runs');
        const claimed = {
          ...old,
          metadata: { ...old.metadata, annotations: { [AUTHOR_ANNOTATION]: 'claim' } },
        };
        const claim = async (who: string) => {
          const update = { operation: 'UPDATE', oldObject: old } as const;
          const made = await policyAuthor(options).review(request(claimed, who, update));
          if (!made.allowed) throw new Error('refused');
          expect(JSON.parse(made.object!.metadata.annotations![AUTHOR_ANNOTATION]!)).toMatchObject({
            username: who,
          });
          return review(options, made.object!, who, update);
        };
        expect(await claim('bob')).toMatchObject({ allowed: false });
        expect(await claim('jane')).toMatchObject({ allowed: true });
      },
    ));
  test('reports an unreadable key in admission and in the condition, and nothing is deleted', () =>
    inCluster('author', async ({ simulation, readState, by, seal }) => {
      const written = await by('jane', ttlPolicy('runs'));
      simulation.faults.answer(({ resource }) => resource === 'secrets', 403, { times: 100 });
      await simulation.apply(written);
      await simulation.timePasses(minutes(20));
      expect(await readState()).toBe('False AuthorUnknown kept');
      simulation.faults.heal();
      await simulation.timePasses(minutes(1));
      expect(await readState()).toBe('True Enforcing gone');
      const refused = new ApiError(403, 'Forbidden', 'secrets is forbidden');
      const broken = Object.assign(Object.create(seal), { seal: () => Promise.reject(refused) });
      const answer = await policyAuthor({
        client: simulation.user,
        actAs: 'author',
        seal: broken,
        impersonation: { kind: 'none' },
      }).review(request(ttlPolicy('x'), 'jane'));
      expect(answer).toMatchObject({
        allowed: false,
        code: 500,
        message: expect.stringContaining('secrets is forbidden'),
      });
    }));
  test('refuses a generated name', () =>
    withLaw(mayAll, async (options) => {
      const { name: _, ...metadata } = ttlPolicy('x').metadata;
      const nameless = { ...ttlPolicy('x'), metadata: { ...metadata, generateName: 'x-' } };
      expect(await policyAuthor(options).review(request(nameless, 'jane'))).toMatchObject({ allowed: false });
    }));
});
