import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '#api/http';
import { Job, job, key, PATH, setup } from './jobs.testkit.ts';
import { json } from './testkit.ts';

describe('delete', () => {
  const success = (code: number) =>
    json(code, { kind: 'Status', status: 'Success', details: { name: 'a', uid: 'u1' } });
  const marked = (more: object, spec?: object) =>
    json(200, { ...job({ deletionTimestamp: '2025-01-01T00:00:00Z', ...more }), spec });
  it.each<[string, HttpResponse, object]>([
    ['a Status means deleted', success(200), { kind: 'deleted', uid: 'u1' }],
    ['a 202 Status means terminating', success(202), { kind: 'terminating', uid: 'u1' }],
    [
      'an object without deletionTimestamp was deleted (StorageClass)',
      json(200, job()),
      { kind: 'deleted', uid: 'u1' },
    ],
    [
      'an object without deletionTimestamp was deleted, even with finalizers',
      json(200, job({ finalizers: ['x/y'] })),
      { kind: 'deleted', uid: 'u1' },
    ],
    [
      'a terminating object without blockers was deleted (Pod without a node)',
      marked({ deletionGracePeriodSeconds: 0 }),
      { kind: 'deleted', uid: 'u1' },
    ],
    [
      'a grace period keeps it terminating',
      marked({ deletionGracePeriodSeconds: 30 }),
      { kind: 'terminating', uid: 'u1' },
    ],
    [
      'a finalizer keeps it terminating',
      marked({ deletionGracePeriodSeconds: 0, finalizers: ['x/y'] }),
      { kind: 'terminating', uid: 'u1' },
    ],
    [
      'spec.finalizers keep a namespace terminating',
      marked({}, { finalizers: ['kubernetes'] }),
      { kind: 'terminating', uid: 'u1' },
    ],
    [
      'an empty list of finalizers does not keep it terminating',
      marked({ finalizers: [] }),
      { kind: 'deleted', uid: 'u1' },
    ],
  ])('%s', async (_name, answer, expected) => {
    expect(await setup([answer]).client.delete(Job, key)).toMatchObject(expected);
  });

  it('sends preconditions and options in the body, never in the query', async () => {
    const { client, server } = setup([success(200)]);
    await client.delete(Job, key, {
      ifUid: 'u1',
      ifVersion: '5',
      propagation: 'Background',
      gracePeriodSeconds: 0,
      dryRun: true,
    });
    expect(server.requests[0]).toMatchObject({
      method: 'DELETE',
      path: `${PATH}/a`,
      headers: { 'content-type': 'application/json' },
    });
    expect(server.bodyOf(0)).toEqual({
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u1', resourceVersion: '5' },
      propagationPolicy: 'Background',
      gracePeriodSeconds: 0,
      dryRun: ['All'],
    });
  });

  it.each<[string, object, object]>([
    ['uid only', { ifUid: 'u1' }, { preconditions: { uid: 'u1' } }],
    ['version only', { ifVersion: '5' }, { preconditions: { resourceVersion: '5' } }],
    ['no precondition', {}, {}],
  ])('%s', async (_name, options, body) => {
    const { client, server } = setup([success(200)]);
    await client.delete(Job, key, options);
    expect(server.bodyOf(0)).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1', ...body });
  });

  it('an empty name is rejected before a request is sent', async () => {
    const { client, server } = setup([success(200)]);
    await expect(client.delete(Job, { namespace: 'n', name: '' })).rejects.toThrow('the name is missing');
    expect(server.requests).toHaveLength(0);
  });

  it('deleteCollection sends its selectors in the query', async () => {
    const { client, server } = setup([
      json(200, { metadata: { resourceVersion: '9' }, items: [{ metadata: { name: 'a' } }] }),
    ]);
    const { items } = await client.deleteCollection(Job, {
      namespace: 'n',
      labelSelector: 'a=b',
      propagation: 'Orphan',
    });
    expect(items).toEqual([{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' } }]);
    expect(server.requests[0]?.path).toBe(`${PATH}?labelSelector=a%3Db`);
    expect(server.bodyOf(0)).toMatchObject({ propagationPolicy: 'Orphan' });
  });
});
