import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { describe, expect, test } from 'vitest';
import {
  accountSubject,
  describeNeeds,
  impersonationOf,
  type Need,
  reviewSelf,
  reviewSubject,
} from './accessReview.ts';

const need = (verb: string, namespace?: string): Need => ({
  verb,
  group: 'tekton.dev',
  resource: 'pipelineruns',
  ...(namespace === undefined ? {} : { namespace }),
});

/** Answers reviews by a rule and records them. */
function reviewing(allow: (spec: { resourceAttributes: Need }) => object | Error) {
  const asked: unknown[] = [];
  const client = {
    create: async (_kind: unknown, review: KubeObject) => {
      asked.push(review['spec']);
      const status = allow(review['spec'] as { resourceAttributes: Need });
      if (status instanceof Error) throw status;
      return { kind: 'created', object: { ...review, status } };
    },
  } as unknown as Pick<Client, 'create'>;
  return { client, asked };
}

describe('access reviews', () => {
  test('return the missing permissions in the requested order', async () => {
    const { client, asked } = reviewing((spec) => ({
      allowed: spec.resourceAttributes.verb !== 'delete',
    }));
    const missing = await reviewSubject(client, { username: 'jane', groups: ['devs'] }, [
      need('list', 'ci'),
      need('delete', 'ci'),
    ]);
    expect(describeNeeds(missing)).toBe('delete pipelineruns.tekton.dev in namespace ci');
    expect(asked[0]).toEqual({
      user: 'jane',
      groups: ['devs'],
      resourceAttributes: { verb: 'list', group: 'tekton.dev', resource: 'pipelineruns', namespace: 'ci' },
    });
  });
  test('treat denied and a missing status as not allowed', async () => {
    for (const status of [{ allowed: true, denied: true }, {}, { allowed: 'yes' }]) {
      const { client } = reviewing(() => status);
      expect(await reviewSelf(client, [need('list')])).toHaveLength(1);
    }
  });
  test('throw when the API server does not answer', async () => {
    const { client } = reviewing(() => new Error('timeout'));
    await expect(reviewSelf(client, [need('list')])).rejects.toThrow('timeout');
  });
  test('identify a service account by its username and groups', () => {
    expect(accountSubject({ namespace: 'ci', name: 'cleanup' })).toEqual({
      username: 'system:serviceaccount:ci:cleanup',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
    });
    expect(describeNeeds([impersonationOf({ namespace: 'ci', name: 'cleanup' })])).toBe(
      'impersonate serviceaccounts cleanup in namespace ci',
    );
  });
});
