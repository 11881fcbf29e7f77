// Tests the author of an object after each kind of write, through the shared admission function.

import { hmac } from '@lapse/base/hmac';
import { formatTime, hours, type Millis, minutes } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { AdmissionResponse } from '@lapse/kube/api/admission';
import type { Json } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { describe, expect, test } from 'vitest';
import { annotated, manifest, OTHER, requestOf } from './authorAdmission.testkit.ts';
import { authorAdmission, restoredWarnings } from './authorAdmission.ts';
import { AUTHOR_ANNOTATION, AuthorSeal, CLAIM, canonical, type Signed } from './authorSeal.ts';

const LIFETIME = hours(720);

const signedOf = ({ kind, metadata: { namespace = '', name = '' }, spec }: KubeObject): Signed => ({
  kind,
  namespace,
  name,
  asked: spec as Json,
});

const annotationOf = ({ metadata }: KubeObject): string => metadata.annotations?.[AUTHOR_ANNOTATION] ?? '';

/** An API server with one webhook. It stores the results of `create` and `update` with a uid and a timestamp. */
class Cluster {
  readonly clock = new VirtualClock();
  readonly seal: AuthorSeal;
  #secret: KubeObject | undefined;
  #uids = 0;

  constructor(seed = 1) {
    const client = {
      get: async () => this.#secret,
      create: async (_kind: unknown, object: KubeObject) => {
        this.#secret = object;
        return { kind: 'created', object };
      },
    };
    this.seal = new AuthorSeal({
      client: client as never,
      random: seededRandom(seed),
      clock: this.clock,
      now: () => this.clock.now(),
      secret: { namespace: 'l', name: 'k' },
      lifetime: LIFETIME,
    });
  }

  review(
    username: string,
    object: KubeObject,
    oldObject: KubeObject | null = null,
  ): Promise<AdmissionResponse> {
    const request = requestOf(username, object, oldObject);
    return authorAdmission({ name: 'x', resources: [], seal: this.seal, signedOf }).review(
      request,
    ) as Promise<AdmissionResponse>;
  }

  async write(username: string, object: KubeObject, old: KubeObject | null = null): Promise<KubeObject> {
    const answer = await this.review(username, object, old);
    if (!answer.allowed) throw new Error(answer.message);
    const { uid, creationTimestamp } = old?.metadata ?? {
      uid: `uid-${++this.#uids}`,
      creationTimestamp: formatTime(this.clock.now()),
    };
    const stored = answer.object ?? object;
    return { ...stored, metadata: { ...stored.metadata, uid, creationTimestamp } as KubeObject['metadata'] };
  }

  /** The username of the author, or the kind of the failed proof. */
  async author(object: KubeObject): Promise<string> {
    const proof = await this.seal.authorOf(object, signedOf(object));
    return proof.kind === 'author' ? proof.subject.username : proof.kind;
  }

  passes(length: Millis): Promise<void> {
    return this.clock.advance(length);
  }
}

/** A signature in the format of versions without expiry. */
async function legacyAnnotation({ seal }: Cluster): Promise<string> {
  const who = { username: 'jane', groups: [] };
  const { kind, namespace = '', name, asked } = signedOf(manifest());
  const text = canonical(['lapse.dev/author/1', kind, namespace, name, asked, who]);
  return canonical({ ...who, seal: hmac(await seal.key(), text) });
}

type Write = (cluster: Cluster, janes: KubeObject) => Promise<[caller: string, object: KubeObject]>;

const says =
  (caller: string, object: (janes: KubeObject) => KubeObject): Write =>
  async (_cluster, janes) => [caller, object(janes)];

const NOT_SIGNED = /names jane, who did not sign this spec; remove the annotation, or set it to "claim"/;

describe('a create', () => {
  test.each<[string, Write, string | RegExp]>([
    ['without annotation: the creator is the author', says('bob', () => manifest()), 'bob'],
    [
      'by a restore, with the signature of its author: the author stays',
      says('admin', (janes) => annotated(manifest(), annotationOf(janes))),
      'jane',
    ],
    [
      'by a restore of a backup whose spec was changed: refused',
      says('admin', (janes) => annotated(manifest({}, OTHER), annotationOf(janes))),
      NOT_SIGNED,
    ],
    [
      'by a restore under another name: refused',
      says('admin', (janes) => annotated(manifest({ name: 'other' }), annotationOf(janes))),
      NOT_SIGNED,
    ],
    [
      'by a restore into another namespace: refused',
      says('admin', (janes) => annotated(manifest({ namespace: 'prod' }), annotationOf(janes))),
      NOT_SIGNED,
    ],
    [
      'with the signature of another cluster: refused',
      async () => ['admin', await new Cluster(2).write('jane', manifest())],
      NOT_SIGNED,
    ],
    [
      'with a signature without an issue time: refused, because its lifetime would start again',
      async (cluster) => ['admin', annotated(manifest(), await legacyAnnotation(cluster))],
      NOT_SIGNED,
    ],
    [
      'with an annotation that is not a signature: refused',
      says('admin', () => annotated(manifest(), 'jane')),
      /metadata.annotations\[lapse.dev\/author\]: Forbidden: is not a signature; remove the annotation/,
    ],
    ['with a claim: the creator is the author', says('admin', () => annotated(manifest(), CLAIM)), 'admin'],
    [
      'from an export of the same user under another name: the user signs again',
      says('jane', (janes) => annotated(manifest({ name: 'other' }), annotationOf(janes))),
      'jane',
    ],
    [
      'from an export of the same user with another spec: the user signs again',
      says('jane', (janes) => annotated(manifest({}, OTHER), annotationOf(janes))),
      'jane',
    ],
  ])('%s', async (_what, write, expected) => {
    const cluster = new Cluster();
    const janes = await cluster.write('jane', manifest());
    await cluster.passes(hours(1));
    const [caller, object] = await write(cluster, janes);
    const result = cluster.write(caller, object).then((stored) => cluster.author(stored));
    if (typeof expected === 'string') expect(await result).toBe(expected);
    else await expect(result).rejects.toThrow(expected);
  });
});

describe('an update', () => {
  /** Jane creates the object and changes it an hour later. `first`: the object as created. */
  test.each<[string, string, (now: KubeObject, first: KubeObject) => KubeObject, string | RegExp]>([
    [
      'of the spec by another user (kubectl edit, server-side apply)',
      'bob',
      (now) => ({ ...now, spec: OTHER }),
      'bob',
    ],
    ['of the spec from a manifest without annotation', 'bob', () => manifest({}, OTHER), 'bob'],
    [
      'back to an earlier spec, with its signature: its author stays',
      'admin',
      (_now, first) => first,
      'jane',
    ],
    [
      'of the spec from an old export of another user: refused',
      'admin',
      (_now, first) => ({ ...first, spec: OTHER }),
      NOT_SIGNED,
    ],
    [
      'of the spec from an old export of the same user',
      'jane',
      (_now, first) => ({ ...first, spec: OTHER }),
      'jane',
    ],
    [
      'of labels keeps the author',
      'bob',
      (now) => ({ ...now, metadata: { ...now.metadata, labels: { a: 'b' } } }),
      'jane',
    ],
    [
      'that removes the annotation keeps the author',
      'bob',
      (now) => ({ ...now, metadata: { name: 'runs', namespace: 'ci' } }),
      'jane',
    ],
    [
      'that forges the annotation keeps the author',
      'bob',
      (now) => annotated(now, '{"username":"root"}'),
      'jane',
    ],
    ['that claims the object', 'bob', (now) => annotated(now, CLAIM), 'bob'],
  ])('%s', async (_what, caller, change, expected) => {
    const cluster = new Cluster();
    const first = await cluster.write('jane', manifest());
    await cluster.passes(hours(1));
    const now = await cluster.write('jane', { ...first, spec: { ttl: '2h' } }, first);
    const result = cluster.write(caller, change(now, first), now).then((stored) => cluster.author(stored));
    if (typeof expected === 'string') expect(await result).toBe(expected);
    else await expect(result).rejects.toThrow(expected);
  });
});

describe('a signature', () => {
  test('is not renewed by a restore', async () => {
    const cluster = new Cluster();
    const janes = await cluster.write('jane', manifest());
    await cluster.passes(hours(719));
    const restored = await cluster.write('admin', janes);
    expect(await cluster.author(restored)).toBe('jane');
    await cluster.passes(hours(1));
    expect(await cluster.author(restored)).toBe('expired');
  });
  test('is renewed by a claim of its author', async () => {
    const cluster = new Cluster();
    const janes = await cluster.write('jane', manifest());
    await cluster.passes(LIFETIME);
    const claimed = await cluster.write('jane', annotated(janes, CLAIM), janes);
    expect(await cluster.author(claimed)).toBe('jane');
  });
  test('of a deleted object is not valid for one that was created without the webhook', async () => {
    const cluster = new Cluster();
    const janes = await cluster.write('jane', manifest());
    const changed = await cluster.write('jane', { ...janes, spec: OTHER }, janes);
    await cluster.passes(minutes(6));
    const creationTimestamp = formatTime(cluster.clock.now());
    for (const replayed of [janes, changed])
      expect(
        await cluster.author({
          ...replayed,
          metadata: { ...replayed.metadata, uid: 'new', creationTimestamp },
        }),
      ).toBe('unknown');
  });
});

test('a restore is allowed with a warning when the author lacks the permissions', async () => {
  const cluster = new Cluster();
  const janes = await cluster.write('jane', manifest());
  const restored = await cluster.write('admin', janes);
  const missing = [{ verb: 'delete', group: '', resource: 'pods', namespace: 'ci' }];
  const warningsFor = (caller: string) =>
    restoredWarnings(cluster.seal, signedOf(restored), requestOf(caller, restored), async () => missing);
  expect(await warningsFor('admin')).toEqual([
    'the author is still jane, who may not delete pods in namespace ci; set lapse.dev/author: claim to become the author',
  ]);
  expect(await warningsFor('jane')).toEqual([]);
});

test('an object with a name that the API server generates is refused', async () => {
  const { name: _, ...metadata } = manifest({ generateName: 'runs-' }).metadata;
  expect(await new Cluster().review('jane', { ...manifest(), metadata })).toMatchObject({
    allowed: false,
    message: expect.stringContaining('metadata.generateName: Forbidden: set metadata.name'),
  });
});

test('a delete is allowed and needs no author', async () => {
  const request = {
    ...requestOf('jane', manifest(), manifest()),
    operation: 'DELETE' as const,
    object: null,
  };
  const { seal } = new Cluster();
  const admission = authorAdmission({ name: 'x', resources: [], seal, signedOf });
  expect(await admission.review(request)).toEqual({ allowed: true });
});

test('a write is refused while the key Secret cannot be read', async () => {
  const seal = {
    seal: async () => Promise.reject(new ApiError(403, 'Forbidden', 'secrets is forbidden')),
    verify: async () => undefined,
  };
  const admission = authorAdmission({ name: 'x', resources: [], seal, signedOf });
  expect(await admission.review(requestOf('jane', manifest()))).toEqual({
    allowed: false,
    code: 500,
    reason: 'InternalError',
    message: 'cannot record the author: the key Secret is not readable: secrets is forbidden',
  });
});
