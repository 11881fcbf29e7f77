import { instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { Actor, Change } from './history.ts';
import { tellChange, tellRefusal, tellWait } from './tell.ts';
import type { RequestRecord } from './wire.ts';

const object = (more: Partial<KubeObject> = {}, meta: KubeObject['metadata'] = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a', resourceVersion: '1', ...meta },
  ...more,
});
const change = (by: Actor, before?: KubeObject, after?: KubeObject, resource = 'things'): Change => ({
  at: instant(0),
  serverAt: instant(0),
  group: '',
  resource,
  kind: after?.kind ?? before?.kind ?? 'Thing',
  name: 'a',
  by,
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after }),
});
const said = (one: Change, lag = 'lag=0s') =>
  tellChange(one, lag).map(({ action, detail }) => `${action} ${detail}`.trim());
const ending = (finalizers: string[] = [], grace?: number) =>
  object(
    {},
    {
      deletionTimestamp: 'x',
      finalizers,
      ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace }),
    },
  );
const condition = (type: string, status: string, reason?: string) => ({ type, status, reason, message: 'm' });
const withConditions = (kind: string, ...conditions: object[]) =>
  object({ kind, status: { conditions } }, { resourceVersion: '2' });
const job = (ttl: number | undefined, ...conditions: object[]) => ({
  ...withConditions('Job', ...conditions),
  spec: ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl },
});

describe('what the server accepted', () => {
  test.each<[string, Change, string[]]>([
    ['what a user creates is known to the user', change('user', undefined, object()), []],
    ['what a controller creates is not', change('process', undefined, object()), ['created']],
    ['nor what a stand-in does', change('stand-in', undefined, object()), ['created']],
    ['deleted by the process, with its lag', change('process', object()), ['deleted lag=0s']],
    ['by somebody else', change('user', object()), ['deleted by a user']],
    ['by a stand-in', change('stand-in', object()), ['deleted by a stand-in']],
    ['by nobody from outside', change('server', object()), ['deleted by the server']],
    ['it begins to end', change('process', object(), ending(['x/y'])), ['terminating lag=0s waits for x/y']],
    ['with a grace period', change('user', object(), ending([], 30)), ['terminating by a user within 30s']],
    ['the end of an end has no second lag', change('process', ending(['x/y'])), ['deleted']],
    ['a finalizer is taken away', change('user', ending(['x/y']), ending(['x/y', 'z'])), []],
    [
      'a Job finishes',
      change(
        'user',
        job(600),
        job(600, condition('SuccessCriteriaMet', 'True'), condition('Complete', 'True')),
      ),
      ['finished ttl=10m'],
    ],
    [
      'without a TTL',
      change('user', job(undefined), job(undefined, condition('Complete', 'True'))),
      ['finished'],
    ],
    ['it fails', change('user', job(0), job(0, condition('Failed', 'True'))), ['failed ttl=0s']],
    [
      'it has finished already',
      change('user', job(1, condition('Complete', 'True')), job(2, condition('Complete', 'True'))),
      [],
    ],
    [
      'a Pod finishes',
      change('user', object({ kind: 'Pod' }), object({ kind: 'Pod', status: { phase: 'Succeeded' } })),
      ['finished'],
    ],
    [
      'a condition comes, or changes its reason; the message does not matter',
      change(
        'process',
        withConditions('Pool', condition('Ready', 'False', 'New'), condition('Same', 'True', 'R')),
        withConditions('Pool', condition('Ready', 'False', 'Late'), {
          ...condition('Same', 'True', 'R'),
          message: 'n',
        }),
      ),
      ['Ready=False Late'],
    ],
    [
      'a phase',
      change('user', object({ status: { phase: 'Pending' } }), object({ status: { phase: 'Bound' } })),
      ['phase=Bound'],
    ],
    [
      'anything else the process writes, by field',
      change(
        'process',
        object({ spec: { a: 1, b: 2 } }),
        object({ spec: { a: 1, b: 3 }, data: {} }, { labels: { x: 'y' } }),
      ),
      ['updated data, metadata.labels, spec.b'],
    ],
    ['versions are no change', change('process', object(), object({}, { resourceVersion: '2' })), []],
    ['what a user writes is known to the user', change('user', object(), object({ spec: {} })), []],
    ['Events', change('process', undefined, object(), 'events'), []],
    ['Leases', change('process', object(), object({ spec: {} }), 'leases'), []],
    [
      'hostile shapes',
      change('process', object({ status: { conditions: [null, 3] } }), object({ status: 'x' })),
      ['updated status'],
    ],
  ])('%s', (_rule, one, expected) => {
    expect(said(one)).toEqual(expected);
  });
});

describe('what it did not', () => {
  const refused = (status: RequestRecord['status'], reason?: string, message?: string): RequestRecord => ({
    at: instant(0),
    method: 'PATCH',
    verb: 'patch',
    path: '/x',
    query: '',
    group: '',
    version: 'v1',
    resource: 'things',
    name: 'a',
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  });
  test.each<[RequestRecord, string | undefined]>([
    [refused(200), undefined],
    [refused('lost'), 'patch unanswered'],
    [refused(409, 'Conflict', 'the object has been modified'), 'patch refused conflict: changed since read'],
    [refused(409, 'Conflict', 'admission webhook "w" denied'), 'patch refused conflict: admission'],
    [refused(409, 'AlreadyExists'), 'patch refused exists already'],
    [refused(404, 'NotFound'), 'patch refused gone'],
    [refused(403, 'Forbidden', 'uid 12 may not'), 'patch refused forbidden'],
    [refused(429, 'TooManyRequests'), 'patch refused too many requests'],
    [
      refused(
        422,
        'Invalid',
        'Job.batch "a" is invalid: [spec.x: Invalid value: "3f", metadata.name: Required value]',
      ),
      'patch refused invalid: spec.x, metadata.name',
    ],
    [refused(502), 'patch refused 502'],
  ])('%#', (record, expected) => {
    const told = tellRefusal(record);
    expect(told === undefined ? undefined : `${told.action} ${told.detail}`.trim()).toBe(expected);
  });
});

test.each<[string, { at: number; why: string } | undefined, string]>([
  ['for the first time', undefined, 'until 100 (ttl)'],
  ['longer', { at: 50, why: 'ttl' }, 'until 100 (ttl was extended)'],
  ['shorter', { at: 500, why: 'ttl' }, 'until 100 (ttl was shortened)'],
  ['for another reason', { at: 50, why: 'budget' }, 'until 100 (ttl)'],
])('a controller waits %s', (_rule, before, detail) => {
  const earlier = before === undefined ? undefined : { ...before, at: instant(before.at) };
  expect(tellWait({ at: instant(100), why: 'ttl' }, earlier, String)).toEqual({ action: 'waiting', detail });
});
