import { minutes } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { describeNeeds, type Need } from '#authors/accessReview';
import { AUTHOR_ANNOTATION } from '#authors/authorSeal';
import { ttlPolicy } from '../../../../../test/scenarios/pipelineRuns.ts';
import { FAMILIES } from '../registry.ts';
import { type CompiledPolicy, compilePolicy } from './compile.ts';
import { clusterPolicy, compiled, policy } from './policy.testkit.ts';
import { inCluster, type Law, statusOf } from './rights.testkit.ts';
import { computeNeeds, computeRefusedKind, signedOf } from './rights.ts';

const compiledCluster = (spec: object): CompiledPolicy => {
  const result = compilePolicy(clusterPolicy(spec));
  if (result.kind === 'invalid') throw new Error('invalid');
  return result.policy;
};

const isReviewed =
  (who: string): Law =>
  (asking) =>
    asking !== who;

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
