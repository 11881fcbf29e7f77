import { formatTime, hours, type Millis, minutes, parseTime, plus, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { Secret } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import { inWorld, type World } from '@lapse/runtime/world.testkit';
import { describe, expect, test } from 'vitest';
import type { Subject } from './accessReview.ts';
import { KEY_MAX_AGE } from './authorKey.ts';
import {
  AUTHOR_ANNOTATION,
  AuthorSeal,
  canonical,
  describeExpired,
  isForObject,
  namedAuthor,
  type SealedAuthor,
  type Signed,
} from './authorSeal.ts';

const SECRET = { namespace: 'default', name: 'lapse-author-seal' };

const signed: Signed = {
  kind: 'TTLPolicy',
  namespace: 'ci',
  name: 'runs',
  asked: { ttl: '1h', mode: 'Enforce' },
};

const jane: Subject = { username: 'jane', uid: '1', groups: ['devs'], extra: { scopes: ['a'] } };

const sealIn = ({ user, clock }: World, seed = 1, more: { lifetime?: Millis } = {}): AuthorSeal =>
  new AuthorSeal({
    client: user,
    random: seededRandom(seed),
    clock,
    now: () => clock.now(),
    secret: SECRET,
    ...more,
  });

/** The object that a signature was made for, created at the start of the test. */
const objectIn = ({ start }: World, text: string, more: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'lapse.dev/v1alpha1',
  kind: 'TTLPolicy',
  metadata: {
    name: 'runs',
    namespace: 'ci',
    uid: 'u1',
    creationTimestamp: formatTime(start),
    annotations: { [AUTHOR_ANNOTATION]: text },
    ...more,
  },
});

const START = parseTime('2026-01-01T00:00:00Z');

const created = { creationTimestamp: '2026-01-01T00:00:00Z', uid: 'u1' };

describe('the signature of an author', () => {
  test(
    'is valid for its object in every process with the key',
    inWorld({}, async (world) => {
      const text = await sealIn(world).seal(jane, signed);
      expect(await sealIn(world, 2).authorOf(objectIn(world, text), signed)).toEqual({
        kind: 'author',
        subject: jane,
      });
    }),
  );
  test(
    'uses one key when several processes start at the same time',
    inWorld({}, async (world) => {
      const keys = await Promise.all([1, 2, 3].map((seed) => sealIn(world, seed).key()));
      expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
    }),
  );
  test(
    'is not valid when anything differs',
    inWorld({}, async (world) => {
      const seal = sealIn(world);
      const text = await seal.seal(jane, signed);
      const parsed = JSON.parse(text);
      const forge = (more: object) => JSON.stringify({ ...parsed, ...more });
      const later = formatTime(plus(world.start, hours(9)));
      const forged: [string, string, Signed][] = [
        ['another name', text, { ...signed, name: 'other' }],
        ['a name with a generated part', text, { ...signed, name: 'runs-x', generateName: 'runs' }],
        ['another namespace', text, { ...signed, namespace: 'prod' }],
        ['another kind', text, { ...signed, kind: 'ClusterTTLPolicy' }],
        ['another spec', text, { ...signed, asked: { ttl: '1s', mode: 'Enforce' } }],
        ['another author', forge({ username: 'root' }), signed],
        ['more groups', forge({ groups: ['devs', 'system:masters'] }), signed],
        ['more extra', forge({ extra: { scopes: ['a', 'b'] } }), signed],
        ['a later time of issue', forge({ issuedAt: later }), signed],
        ['no time of issue', forge({ issuedAt: undefined }), signed],
        ['a later object', forge({ objectCreatedAt: later }), signed],
        ['any object', forge({ objectCreatedAt: undefined }), signed],
        ['another field', forge({ more: 1 }), signed],
        ['no signature', forge({ seal: '' }), signed],
        ['a signature that is a number', forge({ seal: 5 }), signed],
        ['text that is not JSON', '{', signed],
        ['a list', '[]', signed],
        ['groups that are not a list', forge({ groups: { length: 0 } }), signed],
        ['a text that is too long', `${text}${' '.repeat(70_000)}`, signed],
      ];
      for (const [what, annotation, about] of forged)
        expect([what, await seal.authorOf(objectIn(world, annotation), about)]).toEqual([
          what,
          { kind: 'unknown' },
        ]);
      expect(await seal.authorOf(objectIn(world, text), signed)).toMatchObject({ subject: jane });
    }),
  );
  test(
    'of an object that existed is valid for its uid only',
    inWorld({}, async (world) => {
      const seal = sealIn(world);
      const text = await seal.seal(jane, signed, { objectUid: 'u1' });
      expect(await seal.authorOf(objectIn(world, text), signed)).toMatchObject({ kind: 'author' });
      expect(await seal.authorOf(objectIn(world, text, { uid: 'u2' }), signed)).toEqual({ kind: 'unknown' });
    }),
  );
  test(
    'of a new object is not valid for an object of the same name that was created later',
    inWorld({}, async (world) => {
      const seal = sealIn(world);
      const text = await seal.seal(jane, signed);
      const later = { uid: 'u2', creationTimestamp: formatTime(plus(world.start, hours(1))) };
      expect(await seal.authorOf(objectIn(world, text, later), signed)).toEqual({ kind: 'unknown' });
    }),
  );
  test(
    'expires by the time of its issue and not by the age of its object',
    inWorld({}, async (world) => {
      const seal = sealIn(world, 1, { lifetime: hours(720) });
      await world.clock.advance(hours(700), async () => {});
      const object = objectIn(world, await seal.seal(jane, signed, { objectUid: 'u1' }));
      await world.clock.advance(hours(100), async () => {});
      expect(await seal.authorOf(object, signed)).toMatchObject({
        kind: 'author',
        expiresAt: plus(world.start, hours(1420)),
      });
    }),
  );
  test(
    'is valid in a text of 64 KiB and not in a longer one',
    inWorld({}, async (world) => {
      const seal = sealIn(world);
      const text = await seal.seal(jane, signed);
      const kindOf = async (length: number) =>
        (await seal.authorOf(objectIn(world, text.padEnd(length)), signed)).kind;
      expect([await kindOf(65_536), await kindOf(65_537)]).toEqual(['author', 'unknown']);
    }),
  );
  test(
    'of an object with generateName is valid for names with that prefix',
    inWorld({}, async (world) => {
      const seal = sealIn(world);
      const generated = { ...signed, name: '', generateName: 'runs-' };
      const text = await seal.seal(jane, generated);
      const authorOf = (name: string) => seal.authorOf(objectIn(world, text), { ...generated, name });
      expect(await authorOf('runs-x7f2')).toMatchObject({ kind: 'author' });
      expect(await authorOf('other-x7f2')).toEqual({ kind: 'unknown' });
    }),
  );
  test(
    'expires, and the message names the author and the command that renews it',
    inWorld({}, async (world) => {
      const seal = sealIn(world, 1, { lifetime: hours(720) });
      const object = objectIn(world, await seal.seal(jane, signed));
      await world.clock.advance(hours(719), async () => {});
      expect(await seal.authorOf(object, signed)).toMatchObject({ kind: 'author' });
      await world.clock.advance(hours(1), async () => {});
      const proof = await seal.authorOf(object, signed);
      if (proof.kind !== 'expired') throw new Error(proof.kind);
      expect(describeExpired(proof, object)).toBe(
        `the signature of its author jane expired at ${formatTime(proof.expiredAt)}; to renew it, run: kubectl annotate -n ci ttlpolicy runs lapse.dev/author=claim --overwrite`,
      );
    }),
  );
});

describe('the key', () => {
  test(
    'is refused if it is too short, and is read again later',
    inWorld({}, async (world) => {
      const seal = sealIn(world);
      const object = { apiVersion: 'v1', kind: 'Secret', metadata: { ...SECRET }, data: { key: 'YQ==' } };
      await world.user.create(Secret, object);
      await expect(seal.key()).rejects.toThrow('has no key of 32 bytes');
      await world.user.delete(Secret, SECRET);
      expect(await seal.key()).toHaveLength(32);
    }),
  );
  test(
    'is read again after 30 s: deleting it voids all signatures without a restart',
    inWorld({}, async (world) => {
      const seal = sealIn(world);
      const object = objectIn(world, await seal.seal(jane, signed));
      await world.user.delete(Secret, SECRET);
      await world.clock.advance(KEY_MAX_AGE, async () => {});
      expect(await seal.authorOf(object, signed)).toEqual({ kind: 'unknown' });
    }),
  );
  test(
    'is read once within 30 s, also by concurrent requests',
    inWorld({}, async (world) => {
      let reads = 0;
      const client = {
        create: world.user.create,
        get: ((kind, key, options) => {
          reads++;
          return world.user.get(kind, key, options);
        }) as typeof world.user.get,
      };
      const { clock } = world;
      const seal = new AuthorSeal({
        client,
        random: seededRandom(1),
        clock,
        now: () => clock.now(),
        secret: SECRET,
      });
      const object = objectIn(world, await seal.seal(jane, signed));
      await Promise.all([1, 2, 3].map(() => seal.authorOf(object, signed)));
      await clock.advance(seconds(29), async () => {});
      await seal.authorOf(object, signed);
      expect(reads).toBe(1);
    }),
  );
});

describe('the object of a signature', () => {
  test.each<[string, Omit<SealedAuthor, 'subject'>, ObjectMeta, boolean]>([
    ['the same uid', { objectUid: 'u1' }, created, true],
    ['another uid', { objectUid: 'u2' }, created, false],
    ['created when it was signed', { objectCreatedAt: START }, created, true],
    ['created 5 min later', { objectCreatedAt: plus(START, -minutes(5) as Millis) }, created, true],
    ['created by a server 5 min behind', { objectCreatedAt: plus(START, minutes(5)) }, created, true],
    ['created 5 min 1 s later', { objectCreatedAt: plus(START, -seconds(301) as Millis) }, created, false],
    ['created long before', { objectCreatedAt: plus(START, hours(1)) }, created, false],
    ['no creationTimestamp', { objectCreatedAt: START }, { uid: 'u1' }, false],
    ['a signature of an earlier version', {}, created, true],
  ])('%s', (_what, sealed, metadata, expected) =>
    expect(isForObject({ subject: jane, ...sealed }, metadata)).toBe(expected),
  );
});

test.each<[string, object, string | undefined]>([
  ['an annotation names its author', { username: 'jane', groups: ['devs'], seal: 'x' }, 'jane'],
  [
    'an annotation whose user name is a number names no author',
    { username: 5, groups: [], seal: 'x' },
    undefined,
  ],
  [
    'an annotation whose user name is empty names no author',
    { username: '', groups: [], seal: 'x' },
    undefined,
  ],
  [
    'an annotation with a group that is a number names no author',
    { username: 'jane', groups: [5], seal: 'x' },
    undefined,
  ],
  ['an annotation without a signature names no author', { username: 'jane', groups: [] }, undefined],
])('%s', (_rule, annotation, expected) => {
  expect(namedAuthor(JSON.stringify(annotation))).toBe(expected);
});

test('canonical text does not depend on the order of keys and contains own keys only', () => {
  expect(canonical({ b: 1, a: [null, { d: undefined, c: 'x' }] })).toBe('{"a":[null,{"c":"x"}],"b":1}');
  expect(canonical(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
});
