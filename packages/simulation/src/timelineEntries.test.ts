import { instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { Change } from './history.ts';
import { describeChange, describeRefusal, describeWait } from './timelineEntries.ts';
import type { RequestRecord } from './wire.ts';
import type { Actor } from './writers.ts';

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
const linesOf = (one: Change, lag = 'lag=0s') =>
  describeChange(one, lag).map(({ action, detail }) => `${action} ${detail}`.trim());
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

describe('describeChange', () => {
  test.each<[string, Change, string[]]>([
    ['has no line for an object that a user creates', change('user', undefined, object()), []],
    [
      'has a line for an object that the process creates',
      change('process', undefined, object()),
      ['created'],
    ],
    [
      'has a line for an object that a simulated controller creates',
      change('simulated controller', undefined, object()),
      ['created'],
    ],
    ['deleted by the process, with its lag', change('process', object()), ['deleted lag=0s']],
    ['names the user who deletes an object', change('user', object()), ['deleted by a user']],
    [
      'names the simulated controller that deletes an object',
      change('simulated controller', object()),
      ['deleted by a simulated controller'],
    ],
    ['names the server that deletes an object', change('server', object()), ['deleted by the server']],
    [
      'shows the finalizers of a terminating object',
      change('process', object(), ending(['x/y'])),
      ['terminating lag=0s waits for x/y'],
    ],
    [
      'shows the grace period of a terminating object',
      change('user', object(), ending([], 30)),
      ['terminating by a user within 30s'],
    ],
    [
      'shows no second lag when a terminating object is removed',
      change('process', ending(['x/y'])),
      ['deleted'],
    ],
    ['has no line for a finalizer change', change('user', ending(['x/y']), ending(['x/y', 'z'])), []],
    [
      'shows the TTL of a finished Job',
      change(
        'user',
        job(600),
        job(600, condition('SuccessCriteriaMet', 'True'), condition('Complete', 'True')),
      ),
      ['finished ttl=10m'],
    ],
    [
      'has a line for a finished Job without a TTL',
      change('user', job(undefined), job(undefined, condition('Complete', 'True'))),
      ['finished'],
    ],
    [
      'has a line for a failed Job',
      change('user', job(0), job(0, condition('Failed', 'True'))),
      ['failed ttl=0s'],
    ],
    [
      'has no line for a Job that finished before',
      change('user', job(1, condition('Complete', 'True')), job(2, condition('Complete', 'True'))),
      [],
    ],
    [
      'has a line for a finished Pod',
      change('user', object({ kind: 'Pod' }), object({ kind: 'Pod', status: { phase: 'Succeeded' } })),
      ['finished'],
    ],
    [
      'has a line for a new condition or reason, but not for a new message',
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
      'has a line for a new phase',
      change('user', object({ status: { phase: 'Pending' } }), object({ status: { phase: 'Bound' } })),
      ['phase=Bound'],
    ],
    [
      'lists the fields of other changes by the process',
      change(
        'process',
        object({ spec: { a: 1, b: 2 } }),
        object({ spec: { a: 1, b: 3 }, data: {} }, { labels: { x: 'y' } }),
      ),
      ['updated data, metadata.labels, spec.b'],
    ],
    [
      'ignores changes of the resourceVersion',
      change('process', object(), object({}, { resourceVersion: '2' })),
      [],
    ],
    ['has no line for an update by a user', change('user', object(), object({ spec: {} })), []],
    ['ignores Events', change('process', undefined, object(), 'events'), []],
    ['ignores Leases', change('process', object(), object({ spec: {} }), 'leases'), []],
    [
      'ignores objects with unexpected field types',
      change('process', object({ status: { conditions: [null, 3] } }), object({ status: 'x' })),
      ['updated status'],
    ],
  ])('%s', (_rule, one, expected) => {
    expect(linesOf(one)).toEqual(expected);
  });
});

describe('describeRefusal', () => {
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
    const entry = describeRefusal(record);
    expect(entry === undefined ? undefined : `${entry.action} ${entry.detail}`.trim()).toBe(expected);
  });
});

test.each<[string, { at: number; why: string } | undefined, string]>([
  ['for the first time', undefined, 'until 100 (ttl)'],
  ['longer', { at: 50, why: 'ttl' }, 'until 100 (ttl was extended)'],
  ['shorter', { at: 500, why: 'ttl' }, 'until 100 (ttl was shortened)'],
  ['for another reason', { at: 50, why: 'budget' }, 'until 100 (ttl)'],
])('describeWait: a controller waits %s', (_rule, before, detail) => {
  const earlier = before === undefined ? undefined : { ...before, at: instant(before.at) };
  expect(describeWait({ at: instant(100), why: 'ttl' }, earlier, String)).toEqual({
    action: 'waiting',
    detail,
  });
});
