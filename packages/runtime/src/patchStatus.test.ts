import type { JsonObject } from '@lapse/kube/api/json';
import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { expect, test, vi } from 'vitest';
import { patchObject, patchStatus } from './patchStatus.ts';
import type { ReconcileContext } from './reconcileContext.ts';

interface Pool extends KubeObject {
  status?: { phase?: string | null; nodes?: string[]; last?: JsonObject; other?: string };
}
const Pool = defineKind<Pool>({
  group: 'x',
  version: 'v1',
  kind: 'Pool',
  resource: 'pools',
  namespaced: false,
});

const pool = (status?: Pool['status']): Pool => ({
  apiVersion: 'x/v1',
  kind: 'Pool',
  metadata: { name: 'p', uid: 'u', resourceVersion: '7' },
  ...(status === undefined ? {} : { status }),
});

/** A context whose client answers every patch in this way. */
function answering(answer: unknown) {
  const patch = vi.fn(async () => {
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { ctx: { client: { patch } } as unknown as ReconcileContext, patch };
}
const patched = { kind: 'patched', object: pool({ phase: 'New' }) };
const error = (code: number, message = 'no') => new ApiError(code, undefined, message);

test.each<[string, Pool['status'], Pool['status'], JsonObject | undefined]>([
  ['is set if there is no status', undefined, { phase: 'New' }, { phase: 'New' }],
  [
    'is not written if it is equal',
    { phase: 'New', nodes: ['a'] },
    { phase: 'New', nodes: ['a'] },
    undefined,
  ],
  ['that is missing equals null', {}, { phase: null }, undefined],
  [
    'is written alone if the other fields are equal',
    { phase: 'Old', nodes: ['a'] },
    { phase: 'New', nodes: ['a'] },
    { phase: 'New' },
  ],
  ['is removed by null', { phase: 'Old' }, { phase: null }, { phase: null }],
  ['is kept if it is omitted', { other: 'x' }, { phase: 'New' }, { phase: 'New' }],
  ['that is a list is replaced', { nodes: ['a', 'b'] }, { nodes: ['b'] }, { nodes: ['b'] }],
  [
    'that is an object loses the fields that the new one lacks',
    { last: { at: 1, by: { a: 1, b: 2 } } },
    { last: { by: { b: 2 } } },
    { last: { at: null, by: { a: null } } },
  ],
])('a field of the status %s', async (_name, before, fields, expected) => {
  const { ctx, patch } = answering(patched);
  const result = await patchStatus(ctx, Pool, pool(before), fields!);
  if (expected === undefined) {
    expect(patch).not.toHaveBeenCalled();
    expect(result).toEqual({ kind: 'unchanged', object: pool(before) });
    return;
  }
  const preconditions = { subresource: 'status', ifUid: 'u', ifVersion: '7' };
  expect(patch).toHaveBeenCalledExactlyOnceWith(
    Pool,
    { name: 'p' },
    { type: 'merge', patch: { status: expected } },
    preconditions,
  );
  expect(result).toEqual({ kind: 'written', object: patched.object });
});

test.each([
  [
    'a deleted object settles the reconcile',
    { kind: 'missing' },
    { kind: 'gone', outcome: { kind: 'settled' } },
  ],
  [
    'a changed object is reconciled again',
    { kind: 'conflict', by: 'changed', error: error(409) },
    { kind: 'changed', outcome: { kind: 'again' } },
  ],
  [
    'a refused status fails the reconcile',
    { kind: 'invalid', error: error(422) },
    { kind: 'refused', outcome: { kind: 'failed' } },
  ],
  ['a status that is too large is refused', error(413), { kind: 'refused', outcome: { kind: 'failed' } }],
  [
    'a status that is too large for etcd is refused',
    error(500, 'etcdserver: request is too large'),
    { kind: 'refused', outcome: { kind: 'failed' } },
  ],
])('%s', async (_name, answer, expected) => {
  const { ctx } = answering(answer);
  expect(await patchStatus(ctx, Pool, pool(), { phase: 'New' })).toMatchObject(expected);
});

test.each([
  [
    'an admission webhook that answers with a conflict',
    { kind: 'conflict', by: 'admission', error: error(409, 'webhook') },
    'webhook',
  ],
  ['a server error', error(500, 'broken'), 'broken'],
])('%s is thrown', async (_name, answer, message) => {
  const { ctx } = answering(answer);
  await expect(patchStatus(ctx, Pool, pool(), { phase: 'New' })).rejects.toThrow(message);
});

test('an object that was never read from the API server is not patched', async () => {
  const { ctx, patch } = answering(patched);
  const unread = { ...pool(), metadata: { name: 'p' } };
  await expect(patchObject(ctx, Pool, unread, { patch: {} })).rejects.toThrow(
    'without uid and resourceVersion',
  );
  expect(patch).not.toHaveBeenCalled();
});
