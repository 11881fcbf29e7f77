import { minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { describe, expect, test } from 'vitest';
import type { TTLPolicyStatus } from '#api/ttlPolicy';
import { describeNeeds, type Need } from '#deletion/rights';
import { AUTHOR_ANNOTATION } from '#deletion/rightsAuthor';
import { run, ttlPolicy } from '../../../../../test/scenarios/pipelineRuns.ts';
import { FAMILIES } from '../registry.ts';
import { policyAuthor } from './admission.ts';
import { type CompiledPolicy, compilePolicy } from './compile.ts';
import { clusterPolicy, compiled, policy } from './policy.testkit.ts';
import { computeRefusedKind } from './refused.ts';
import { type Law, lawfulCluster, request, review, underLaw } from './rights.testkit.ts';
import { computeNeeds, signedOf } from './rights.ts';

const compiledCluster = (spec: object): CompiledPolicy => {
  const result = compilePolicy(clusterPolicy(spec));
  if (result.kind === 'invalid') throw new Error('invalid');
  return result.policy;
};

describe('who needs what', () => {
  const runs = { group: 'tekton.dev', resource: 'pipelineruns', namespaced: true };
  const nodes = { group: '', resource: 'nodes', namespaced: false };
  const account = { serviceAccountName: 'cleanup' };
  const inCi = 'pipelineruns.tekton.dev in namespace ci';
  const impersonate = (ns: string) => `impersonate serviceaccounts cleanup in namespace ${ns}`;
  test.each<[string, CompiledPolicy, typeof runs, 'author' | 'controller', string, string, string]>([
    [
      'the author lists and deletes, we read and delete',
      compiled(),
      runs,
      'author',
      `list ${inCi}, watch ${inCi}, delete ${inCi}`,
      `list ${inCi}, delete ${inCi}`,
      '',
    ],
    [
      'as the controller, nobody else is asked',
      compiled(),
      runs,
      'controller',
      `list ${inCi}, watch ${inCi}, delete ${inCi}`,
      '',
      '',
    ],
    [
      'with an account, the author may be it, and it lists and deletes',
      compiled(account),
      runs,
      'author',
      `list ${inCi}, watch ${inCi}, ${impersonate('ci')}`,
      impersonate('ci'),
      `list ${inCi}, delete ${inCi}`,
    ],
    [
      'with an account, as the controller',
      compiled(account),
      runs,
      'controller',
      `list ${inCi}, watch ${inCi}, ${impersonate('ci')}`,
      '',
      `list ${inCi}, delete ${inCi}`,
    ],
    [
      'a cluster policy needs it everywhere',
      compiledCluster({}),
      runs,
      'author',
      'list pipelineruns.tekton.dev, watch pipelineruns.tekton.dev, delete pipelineruns.tekton.dev',
      'list pipelineruns.tekton.dev, delete pipelineruns.tekton.dev',
      '',
    ],
    [
      'its account lives where it says',
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

test('no kind of ours can be ended by a policy', () => {
  const kinds = FAMILIES.flatMap(({ kinds }) => kinds).map(({ kind }) => kind);
  expect(kinds.length).toBeGreaterThan(3);
  for (const { group, version, kind } of kinds) {
    const p = compiled({ target: { apiVersion: `${group}/${version}`, kind } });
    expect([kind, computeRefusedKind(p)?.reason]).toEqual([kind, 'KindRefused']);
  }
  expect(computeRefusedKind(compiled())).toBeUndefined();
});

test('what defaulting adds is not signed, what it does not add is', () => {
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

/** A cluster with a finished run; what became of it and of the policy. */
async function inCluster(
  actAs: 'author' | 'controller',
  story: (cluster: Awaited<ReturnType<typeof lawfulCluster>> & { look(): Promise<string> }) => Promise<void>,
): Promise<void> {
  const cluster = await lawfulCluster(actAs);
  const { simulation } = cluster;
  const look = async () => {
    await simulation.settle();
    const [ready] = (await statusOf((ref) => simulation.get(ref))).conditions ?? [];
    const exists = (await simulation.get('pipelinerun/a')) !== undefined;
    return `${ready?.status} ${ready?.reason} ${exists ? 'kept' : 'gone'}`;
  };
  try {
    await simulation.apply(run('a', { finished: seconds(0) }));
    await story({ ...cluster, look });
  } finally {
    await simulation.close();
  }
}

describe('without a webhook', () => {
  test('a policy without a proven author ends nothing', () =>
    inCluster('author', async ({ simulation, look }) => {
      await simulation.apply(ttlPolicy('runs'));
      await simulation.timePasses(minutes(20));
      expect(await look()).toBe('False AuthorUnknown kept');
      expect(simulation.requests.filter(({ path }) => path.includes('pipelineruns'))).toEqual([]);
    }));
  test('nor does one with a forged author, or the author of another policy', () =>
    inCluster('author', async ({ simulation, look, by }) => {
      const other = await by('jane', ttlPolicy('other', { ttl: '1m' }));
      const stolen = other.metadata.annotations?.[AUTHOR_ANNOTATION] ?? '';
      for (const author of [stolen, '{"username":"admin","groups":["system:masters"],"seal":"x"}', 'admin']) {
        await simulation.apply(
          ttlPolicy('runs', { ttl: '1m' }, { annotations: { [AUTHOR_ANNOTATION]: author } }),
        );
        await simulation.timePasses(minutes(20));
        expect(await look()).toBe('False AuthorUnknown kept');
      }
    }));
  test('nor one whose spec was changed after its author had been written down', () =>
    inCluster('author', async ({ simulation, look, by }) => {
      await simulation.apply(await by('jane', ttlPolicy('runs', { ttl: '1h' })));
      await simulation.timePasses(minutes(10));
      expect(await look()).toBe('True Enforcing kept');
      await simulation.patch('ttlpolicy/runs', { spec: { ttl: '1m' } });
      await simulation.timePasses(minutes(20));
      expect(await look()).toBe('False AuthorUnknown kept');
    }));
  test('with the author who wrote it, it works; labels are nobody’s business', () =>
    inCluster('author', async ({ simulation, look, by, state }) => {
      await simulation.apply(await by('jane', ttlPolicy('runs')));
      await simulation.patch('ttlpolicy/runs', { metadata: { labels: { team: 'web' } } });
      await simulation.timePasses(minutes(11));
      expect(await look()).toBe('True Enforcing gone');
      expect(state.asked).toContain('jane delete pipelineruns');
    }));
  test('where the operator says so, nobody is asked', () =>
    inCluster('controller', async ({ simulation, look, state }) => {
      await simulation.apply(ttlPolicy('runs'));
      await simulation.timePasses(minutes(11));
      expect(await look()).toBe('True Enforcing gone');
      expect(new Set(state.asked.map((text) => text.split(' ')[0]))).toEqual(new Set(['self']));
    }));
});

describe('rights that come and go', () => {
  test('an author who loses the right stops the policy; given back, it goes on', () =>
    inCluster('author', async ({ simulation, look, by, state }) => {
      await simulation.apply(await by('jane', ttlPolicy('runs', { ttl: '1h' })));
      await simulation.timePasses(minutes(1));
      expect(await look()).toBe('True Enforcing kept');
      state.law = isReviewed('jane');
      await simulation.timePasses(minutes(70));
      expect(await look()).toBe('False AuthorNotPermitted kept');
      const { conditions } = await statusOf((ref) => simulation.get(ref));
      expect(conditions?.[0]?.message).toBe(
        'jane may not list pipelineruns.tekton.dev in namespace default, delete pipelineruns.tekton.dev in namespace default',
      );
      state.law = () => true;
      await simulation.timePasses(minutes(1));
      expect(await look()).toBe('True Enforcing gone');
    }));
  test('an account without rights: nothing is read for it, nothing deleted; granted later, it finishes', () =>
    inCluster('author', async ({ simulation, look, by, state }) => {
      const account = 'system:serviceaccount:default:cleanup';
      state.law = isReviewed(account);
      await simulation.apply(await by('jane', ttlPolicy('runs', { serviceAccountName: 'cleanup' })));
      await simulation.timePasses(minutes(20));
      expect(await look()).toBe('False AccountNotPermitted kept');
      expect(simulation.requests.filter(({ path }) => path.includes('pipelineruns'))).toEqual([]);
      state.law = () => true;
      await simulation.timePasses(minutes(1));
      expect(await look()).toBe('True Enforcing gone');
      expect(state.impersonated).toEqual(['default/cleanup']);
    }));
  test('an author who may not be the account', () =>
    inCluster('author', async ({ simulation, look, by, state }) => {
      state.law = (who, { verb }) => who !== 'jane' || verb !== 'impersonate';
      await simulation.apply(await by('jane', ttlPolicy('runs', { serviceAccountName: 'cleanup' })));
      await simulation.timePasses(minutes(20));
      expect(await look()).toBe('False AuthorNotPermitted kept');
    }));
  test('our own rights', () =>
    inCluster('controller', async ({ simulation, look, state }) => {
      state.law = (_who, { verb }: Need) => verb !== 'watch';
      await simulation.apply(ttlPolicy('runs'));
      await simulation.timePasses(minutes(20));
      expect(await look()).toBe('False NotPermitted kept');
      state.law = () => true;
      await simulation.timePasses(minutes(1));
      expect(await look()).toBe('True Enforcing gone');
    }));
  test('no verdict is not a yes', () =>
    inCluster('controller', async ({ simulation, look, state }) => {
      state.law = () => {
        throw new Error('the reviewer is away');
      };
      await simulation.apply(ttlPolicy('runs'));
      await simulation.timePasses(minutes(20));
      expect(await look()).toBe('undefined undefined kept');
    }));
});

describe('admission', () => {
  const withLaw = async (
    law: Law,
    story: (options: Parameters<typeof review>[0]) => Promise<void>,
    actAs: 'author' | 'controller' = 'author',
  ) => {
    const { simulation, seal } = await lawfulCluster();
    try {
      // A kind that was missing a moment ago is believed to be missing still.
      await simulation.timePasses(seconds(10));
      await story({
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

  test('names the field, the author and what is missing', () =>
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
  test('a policy that names an account while impersonation is off is refused, with what to do', () =>
    withLaw(mayAll, async (options) => {
      const off = { ...options, impersonation: { kind: 'none' } as const };
      expect(await review(off, ttlPolicy('runs', { serviceAccountName: 'x' }), 'jane')).toMatchObject({
        allowed: false,
        message: expect.stringContaining('set ttlPolicy.impersonation to {namespaces: [default]} or cluster'),
      });
      expect(await review(off, ttlPolicy('runs'), 'jane')).toMatchObject({ allowed: true });
    }));
  test('what its author may do is allowed; as the controller everybody may', () =>
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
  test('an account that may do nothing yet, and a kind that is not there yet, are warned about', () =>
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
  test('an update that leaves the spec alone is not judged, nor is a deletion', () =>
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
  test('the author is the user who wrote the spec last; a forged annotation is refused or dropped', () =>
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
  test('who claims a policy as it is answers for it, and needs the rights', () =>
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
  test('a key that cannot be had: said in admission and in the condition, and nothing is ended', () =>
    inCluster('author', async ({ simulation, look, by, seal }) => {
      const written = await by('jane', ttlPolicy('runs'));
      simulation.faults.answer(({ resource }) => resource === 'secrets', 403, { times: 100 });
      await simulation.apply(written);
      await simulation.timePasses(minutes(20));
      expect(await look()).toBe('False AuthorUnknown kept');
      simulation.faults.heal();
      await simulation.timePasses(minutes(1));
      expect(await look()).toBe('True Enforcing gone');
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
  test('a name that is not known yet cannot be answered for', () =>
    withLaw(mayAll, async (options) => {
      const { name: _, ...metadata } = ttlPolicy('x').metadata;
      const nameless = { ...ttlPolicy('x'), metadata: { ...metadata, generateName: 'x-' } };
      expect(await policyAuthor(options).review(request(nameless, 'jane'))).toMatchObject({ allowed: false });
    }));
});
