// Which requests admission rejects, and which author it signs. Runs without an API server: reviews and kinds are
// data.

import { formatTime } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { KindQuery } from '@lapse/kube/client/discovery';
import type { AdmissionRequest, AdmissionResponse } from '@lapse/runtime/host/review';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { AuthorSeal } from '#authors/authorSeal';
import { requestAuthor } from '#requests/author';
import { captureAuthor, captureRules } from './admission.ts';
import { request } from './manifest.testkit.ts';
import type { Authorization, TargetClient } from './policy.ts';

const AUTHOR = 'lapse.dev/author';
const KINDS: Record<string, boolean> = { ConfigMap: true, Secret: true, Namespace: false, Node: false };

/** Bob may read ConfigMaps and his namespace. Other users have no rights. */
function clientFor(): TargetClient {
  let key: KubeObject | undefined;
  const discovery = {
    async find({ group, version, kind = '' }: KindQuery) {
      const namespaced = group === '' && version === 'v1' ? KINDS[kind] : undefined;
      const resource = `${kind.toLowerCase()}s`;
      return namespaced === undefined
        ? undefined
        : { group, version, kind, resource, namespaced, verbs: ['get'] };
    },
    invalidate: () => {},
  };
  return {
    discovery: discovery as never,
    get: async () => key as never,
    async create(_kind, object) {
      if (object.kind === 'Secret') {
        key = object;
        return { kind: 'created', object };
      }
      const { user, resourceAttributes } = object['spec'] as {
        user: string;
        resourceAttributes: { resource: string };
      };
      const allowed = user === 'bob' && ['configmaps', 'namespaces'].includes(resourceAttributes.resource);
      return { kind: 'created', object: { ...object, status: { allowed } } as never };
    },
  };
}

const made = (
  operation: AdmissionRequest['operation'],
  object: KubeObject | null,
  more: object = {},
): AdmissionRequest => ({
  uid: 'r',
  operation,
  kind: { group: 'g', version: 'v', kind: 'k' },
  resource: { group: 'g', version: 'v', resource: 'r' },
  name: object?.metadata.name ?? '',
  namespace: 'shop',
  userInfo: { username: 'bob', groups: ['dev'] },
  object,
  oldObject: null,
  dryRun: false,
  ...more,
});

const clock = new VirtualClock();
const sealWith = (client: unknown): AuthorSeal =>
  new AuthorSeal({
    client: client as never,
    random: seededRandom(1),
    clock,
    now: () => clock.now(),
    secret: { namespace: 'l', name: 'k' },
  });
let client: TargetClient;
let seal: AuthorSeal;
beforeEach(() => {
  client = clientFor();
  seal = sealWith(client);
});
const options = (authorization: Authorization = 'Webhook') => ({
  client,
  seal,
  policy: {
    secrets: 'include' as const,
    profile: 'verbatim' as const,
    authorization,
    allowedKinds: ['ConfigMap'],
    retention: { mode: 'FollowObject' as const },
  },
});
const judge = async (
  object: KubeObject | null,
  more: object = {},
  authorization?: Authorization,
): Promise<string> => {
  const answer = await captureRules(options(authorization)).review(made('CREATE', object, more));
  return answer.allowed ? 'allowed' : answer.message;
};

describe('rules', () => {
  test.each<[string, string[], RegExp]>([
    ['a target that its author may read', ['v1 ConfigMap a'], /^allowed$/],
    ['several', ['v1 ConfigMap a', 'v1 ConfigMap b'], /^allowed$/],
    ['the namespace of the request', ['v1 Namespace shop'], /^allowed$/],
    ['a foreign Namespace', ['v1 Namespace kube-system'], /only Namespace shop itself can be captured/],
    ['a cluster-scoped object', ['v1 Node n1'], /it is in no namespace/],
    [
      'an object that the author may not read',
      ['v1 ConfigMap a', 'v1 Secret db'],
      /bob may not get secrets db in namespace shop/,
    ],
    ['an empty list', [], /spec.targets is empty/],
  ])('%s', async (_what, targets, says) => expect(await judge(request(...targets))).toMatch(says));

  test('a user without rights is rejected although bob may read the target', async () => {
    const eve = { userInfo: { username: 'eve', groups: [] } };
    expect(await judge(request('v1 ConfigMap a'), eve)).toMatch(/eve may not get configmaps a/);
  });
  test('a target without a namespace is in the namespace of the request', async () => {
    const nowhere = { ...request('v1 Namespace shop'), metadata: { name: 'before' } };
    expect(await judge(nowhere)).toBe('allowed');
  });
  test('deletes and updates are not reviewed: the spec is immutable, and a target may be deleted', async () => {
    const rules = captureRules(options());
    const oldObject = request('v1 Node n1');
    for (const operation of ['UPDATE', 'DELETE'] as const)
      expect(await rules.review(made(operation, request('v1 Node n1'), { oldObject }))).toEqual({
        allowed: true,
      });
  });
  test('with a list of kinds the list counts, not the rights of the author', async () => {
    const eve = { userInfo: { username: 'eve' } };
    expect(await judge(request('v1 ConfigMap a'), eve, 'AllowList')).toBe('allowed');
    expect(await judge(request('v1 Secret db'), eve, 'AllowList')).toMatch(
      /Secret is not among capture.allowedKinds/,
    );
  });
  test('no review is sent when the controller’s rights count', async () => {
    expect(await judge(request('v1 Secret db'), { userInfo: { username: 'eve' } }, 'Controller')).toBe(
      'allowed',
    );
  });
});

describe('the author', () => {
  const write = async (object: KubeObject, more: object = {}, operation: 'CREATE' | 'UPDATE' = 'CREATE') => {
    const answer = (await captureAuthor(options()).review(
      made(operation, object, more),
    )) as AdmissionResponse & { object?: KubeObject };
    return answer.object as ManifestCaptureRequest;
  };
  const who = async ({ metadata, ...rest }: ManifestCaptureRequest) => {
    const creationTimestamp = formatTime(clock.now());
    const object = { ...rest, metadata: { ...metadata, creationTimestamp } };
    const proof = await requestAuthor(seal, object);
    return proof.kind === 'author' ? proof.subject.username : undefined;
  };

  test('is recorded and verified', async () =>
    expect(await who(await write(request('v1 ConfigMap a')))).toBe('bob'));
  test('is kept when another user creates the same request from a backup', async () => {
    const signed = await write(request('v1 ConfigMap a'));
    const again = await write(signed, { userInfo: { username: 'eve' } });
    expect(await who(again)).toBe('bob');
  });
  test('is not verified for other targets, another name or another namespace', async () => {
    const signed = await write(request('v1 ConfigMap a'));
    expect(await who({ ...signed, spec: request('v1 Secret db').spec! })).toBeUndefined();
    expect(await who({ ...signed, metadata: { ...signed.metadata, name: 'other' } })).toBeUndefined();
    expect(await who({ ...signed, metadata: { ...signed.metadata, namespace: 'other' } })).toBeUndefined();
    expect(await who(request('v1 ConfigMap a'))).toBeUndefined();
  });
  test('is verified for a generated name', async () => {
    const unnamed = {
      ...request('v1 ConfigMap a'),
      metadata: { namespace: 'shop', generateName: 'before-' },
    };
    const signed = await write(unnamed);
    expect(await who({ ...signed, metadata: { ...signed.metadata, name: 'before-x7f2' } })).toBe('bob');
    expect(await who({ ...signed, metadata: { ...signed.metadata, name: 'other-x7f2' } })).toBeUndefined();
  });
  test('is kept when other users change the object, and cannot be removed', async () => {
    const signed = await write(request('v1 ConfigMap a'));
    const annotations: Record<string, string> = { note: 'x' };
    expect(signed.metadata.annotations).toHaveProperty([AUTHOR]);
    const changed = { ...signed, metadata: { ...signed.metadata, annotations } };
    const kept = await write(changed, { oldObject: signed, userInfo: { username: 'eve' } }, 'UPDATE');
    expect(kept.metadata.annotations).toEqual({ ...signed.metadata.annotations, note: 'x' });
  });
  test('is required: the request is rejected if the author cannot be recorded', async () => {
    const refused = { ...client, get: () => Promise.reject(new ApiError(403, 'Forbidden', 'no secrets')) };
    const broken = sealWith(refused);
    const answer = await captureAuthor({ ...options(), seal: broken }).review(
      made('CREATE', request('v1 ConfigMap a')),
    );
    expect(answer).toMatchObject({
      allowed: false,
      code: 500,
      message: expect.stringContaining('no secrets'),
    });
  });
});
