import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#api/object';
import { seededRandom } from '#base/random';
import type { Client } from '#client/client';
import { inWorld } from '#runtime/world.testkit';
import {
  accountSubject,
  describeNeeds,
  impersonationOf,
  type Need,
  reviewSelf,
  reviewSubject,
} from './rights.ts';
import { AUTHOR_ANNOTATION, AuthorSeal, canonical, type Signed } from './rightsAuthor.ts';

const need = (verb: string, namespace?: string): Need => ({
  verb,
  group: 'tekton.dev',
  resource: 'pipelineruns',
  ...(namespace === undefined ? {} : { namespace }),
});

/** Answers reviews by a rule, and remembers what was asked. */
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

describe('reviews', () => {
  test('what is missing is named, in the order asked', async () => {
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
  test('denied beats allowed, and no status is a no', async () => {
    for (const status of [{ allowed: true, denied: true }, {}, { allowed: 'yes' }]) {
      const { client } = reviewing(() => status);
      expect(await reviewSelf(client, [need('list')])).toHaveLength(1);
    }
  });
  test('no answer is an error, never a yes', async () => {
    const { client } = reviewing(() => new Error('timeout'));
    await expect(reviewSelf(client, [need('list')])).rejects.toThrow('timeout');
  });
  test('a service account is known by its name and groups', () => {
    expect(accountSubject({ namespace: 'ci', name: 'cleanup' })).toEqual({
      username: 'system:serviceaccount:ci:cleanup',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
    });
    expect(describeNeeds([impersonationOf({ namespace: 'ci', name: 'cleanup' })])).toBe(
      'impersonate serviceaccounts cleanup in namespace ci',
    );
  });
});

const SECRET = { namespace: 'default', name: 'lapse-author-seal' };
const signed: Signed = {
  kind: 'TTLPolicy',
  namespace: 'ci',
  name: 'runs',
  asked: { ttl: '1h', mode: 'Enforce' },
};
const jane = { username: 'jane', uid: '1', groups: ['devs'], extra: { scopes: ['a'] } };
const withAnnotation = (text: string): KubeObject => ({
  apiVersion: 'lapse.dev/v1alpha1',
  kind: 'TTLPolicy',
  metadata: { name: 'runs', namespace: 'ci', annotations: { [AUTHOR_ANNOTATION]: text } },
});

describe('the seal of an author', () => {
  test(
    'is believed for the object it was made for, by every process with the key',
    inWorld({}, async ({ user }) => {
      const one = new AuthorSeal({ client: user, random: seededRandom(1), secret: SECRET });
      const other = new AuthorSeal({ client: user, random: seededRandom(2), secret: SECRET });
      const text = await one.seal(jane, signed);
      expect(await other.authorOf(withAnnotation(text), signed)).toEqual(jane);
    }),
  );
  test(
    'two processes that start together agree on one key',
    inWorld({}, async ({ user }) => {
      const seals = [1, 2, 3].map(
        (seed) => new AuthorSeal({ client: user, random: seededRandom(seed), secret: SECRET }),
      );
      const keys = await Promise.all(seals.map((seal) => seal.key()));
      expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
    }),
  );
  test(
    'is not believed when anything differs',
    inWorld({}, async ({ user }) => {
      const seal = new AuthorSeal({ client: user, random: seededRandom(1), secret: SECRET });
      const text = await seal.seal(jane, signed);
      const read = (annotation: string, about: Signed = signed) =>
        seal.authorOf(withAnnotation(annotation), about);
      const parsed = JSON.parse(text);
      const forged: [string, string, Signed][] = [
        ['another name', text, { ...signed, name: 'other' }],
        ['another namespace', text, { ...signed, namespace: 'prod' }],
        ['another kind', text, { ...signed, kind: 'ClusterTTLPolicy' }],
        ['something else was asked', text, { ...signed, asked: { ttl: '1s', mode: 'Enforce' } }],
        ['another author', JSON.stringify({ ...parsed, username: 'root' }), signed],
        ['more groups', JSON.stringify({ ...parsed, groups: ['devs', 'system:masters'] }), signed],
        ['more extra', JSON.stringify({ ...parsed, extra: { scopes: ['a', 'b'] } }), signed],
        ['another field', JSON.stringify({ ...parsed, more: 1 }), signed],
        ['no signature', JSON.stringify({ ...parsed, seal: '' }), signed],
        ['a signature that is no text', JSON.stringify({ ...parsed, seal: 5 }), signed],
        ['not JSON', '{', signed],
        ['not an object', '[]', signed],
        ['groups that are no list', JSON.stringify({ ...parsed, groups: { length: 0 } }), signed],
        ['a text too long', `${text}${' '.repeat(70_000)}`, signed],
      ];
      for (const [what, annotation, about] of forged)
        expect([what, await read(annotation, about)]).toEqual([what, undefined]);
      expect(await read(text)).toEqual(jane);
    }),
  );
  test(
    'a key that is too short is refused, and looked at again later',
    inWorld({}, async ({ user }) => {
      const seal = new AuthorSeal({ client: user, random: seededRandom(1), secret: SECRET });
      const { Secret } = await import('#api/kinds/builtin');
      const object = { apiVersion: 'v1', kind: 'Secret', metadata: { ...SECRET }, data: { key: 'YQ==' } };
      await user.create(Secret, object);
      await expect(seal.key()).rejects.toThrow('has no key of 32 bytes');
      await user.delete(Secret, SECRET);
      expect(await seal.key()).toHaveLength(32);
    }),
  );
});

test('canonical text does not depend on the order of keys, and knows own keys only', () => {
  expect(canonical({ b: 1, a: [null, { d: undefined, c: 'x' }] })).toBe('{"a":[null,{"c":"x"}],"b":1}');
  expect(canonical(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
});
