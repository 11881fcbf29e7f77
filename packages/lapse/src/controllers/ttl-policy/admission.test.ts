import { minutes, seconds } from '@lapse/base/instant';
import { ApiError } from '@lapse/kube/api/status';
import { describe, expect, test } from 'vitest';
import { AUTHOR_ANNOTATION } from '#authors/authorSeal';
import { ttlPolicy } from '../../../../../test/scenarios/pipelineRuns.ts';
import { policyAuthor } from './admission.ts';
import { inCluster, type Law, lawfulCluster, request, review, underLaw } from './rights.testkit.ts';

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
