import type { AdmissionRequest } from '@lapse/kube/api/admission';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { annotated, manifest, OTHER, requestOf } from './authorAdmission.testkit.ts';
import { callerOf, inNamespace, isReviewNeeded, writtenObject } from './authorAdmission.ts';

describe('the object that a request writes', () => {
  const request = requestOf('jane', manifest());
  test.each<[string, AdmissionRequest, KubeObject | undefined]>([
    ['is the object of a create', request, manifest()],
    ['is undefined for a delete that carries an object', { ...request, operation: 'DELETE' }, undefined],
    ['is undefined for a request without an object', { ...request, object: null }, undefined],
  ])('%s', (_rule, given, expected) => expect(writtenObject(given)).toEqual(expected));

  const { namespace: _, ...withoutNamespace } = request;
  const cluster = manifest({ namespace: undefined });
  test.each<[string, KubeObject, AdmissionRequest, string | undefined]>([
    ['gets the namespace of the request when it has none', cluster, { ...request, namespace: 'ci' }, 'ci'],
    ['keeps its own namespace', manifest(), { ...request, namespace: 'other' }, 'ci'],
    ['has no namespace when the request has none', cluster, withoutNamespace, undefined],
  ])('%s', (_rule, object, given, expected) =>
    expect(inNamespace(object, given).metadata.namespace).toBe(expected),
  );
});

describe('the permissions are reviewed', () => {
  const signedBy = (text: string) => annotated(manifest(), text);
  test.each<[string, KubeObject, KubeObject | null, boolean]>([
    ['of a new object', manifest(), null, true],
    ['when the spec changes', manifest({}, OTHER), manifest(), true],
    ['when the author changes', signedBy('bob'), signedBy('jane'), true],
    ['when the spec and the author change', annotated(manifest({}, OTHER), 'bob'), signedBy('jane'), true],
    ['not when neither changes', signedBy('jane'), signedBy('jane'), false],
  ])('%s', (_rule, object, old, expected) =>
    expect(isReviewNeeded(requestOf('jane', object, old))).toBe(expected),
  );
});

describe('the caller of a request', () => {
  const callerWith = (more: object) =>
    callerOf({ ...requestOf('jane', manifest()), userInfo: { username: 'jane', groups: ['devs'], ...more } });
  const jane = { username: 'jane', groups: ['devs'] };
  test.each<[string, object, object]>([
    ['has the user name and the groups', {}, jane],
    ['has the uid', { uid: '7' }, { ...jane, uid: '7' }],
    ['has no uid when it is empty', { uid: '' }, jane],
    ['has the extra fields', { extra: { scopes: ['a'] } }, { ...jane, extra: { scopes: ['a'] } }],
    ['has no groups when the request names none', { groups: undefined }, { username: 'jane', groups: [] }],
  ])('%s', (_rule, more, expected) => expect(callerWith(more)).toStrictEqual(expected));
});
