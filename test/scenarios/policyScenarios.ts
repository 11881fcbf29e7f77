// Scenarios about policies that several test files run, and their helpers.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Fault } from '@lapse/simulation/faults';
import type { WatchBreak } from '@lapse/simulation/streams';
import type { TTLPolicyStatus } from 'lapse/api/ttlPolicy';
import { expect } from 'vitest';
import { PipelineRunKind, run, ttlPolicy } from './pipelineRuns.ts';
import type { Given, Scene, Then } from './scene.ts';

interface Policy extends KubeObject {
  status?: TTLPolicyStatus;
}
export const start = (given: Given, more: object = {}) => {
  given.controllers('ttl-policy');
  given.configuration({ actAs: 'controller', ttlPolicy: { impersonation: 'cluster' }, ...more });
  given.kinds(PipelineRunKind);
};
export const statusOf = async (then: Then, ref: string): Promise<TTLPolicyStatus> =>
  (await then.object<Policy>(ref)).status ?? {};
export const readyOf = async (then: Then, ref: string): Promise<string> => {
  const [ready] = (await statusOf(then, ref)).conditions ?? [];
  return `${ready?.status} ${ready?.reason}`;
};
export const messageOf = async (then: Then, ref: string): Promise<string> =>
  (await statusOf(then, ref)).conditions?.[0]?.message ?? '';
/** Names of the objects for which a DELETE was sent. */
export const deletes = (then: Then) => then.requests('DELETE').map(({ path }) => path.split('/').at(-1));

export async function breakWatches({ given, when, then }: Scene, how: WatchBreak): Promise<void> {
  start(given);
  await given.object([
    ttlPolicy('runs'),
    run('a', { finished: seconds(0) }),
    run('b', { finished: seconds(0) }),
  ]);
  await when.timePasses(minutes(1));
  await when.watchesBreak(how);
  await when.user.patch('pipelinerun/a', { metadata: { annotations: { 'lapse.dev/ttl': 'never' } } });
  await when.timePasses(minutes(20));
  await then.exists('pipelinerun/a');
  await then.isGone('pipelinerun/b');
  expect(deletes(then)).toEqual(['b']);
}

export async function refuseDelete({ given, when, then }: Scene, code: number): Promise<void> {
  start(given);
  await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
  await when.timePasses(seconds(1));
  when.serverAnswers('DELETE', code, { times: 2 });
  await when.timePasses(minutes(20));
  await then.isGone('pipelinerun/a');
}

export async function loseDelete({ given, when, then }: Scene, fault: Fault): Promise<void> {
  start(given);
  await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
  await when.timePasses(seconds(1));
  when.serverAnswers('DELETE', fault, { times: 1 });
  await when.timePasses(minutes(20));
  await then.isGone('pipelinerun/a');
  expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ deleted: 1 });
}

export async function forbidReading({ given, when, then }: Scene, verb: 'list' | 'watch'): Promise<void> {
  start(given);
  await given.object([run('a', { finished: seconds(0) })]);
  await when.timePasses(seconds(1));
  when.serverAnswers((r) => r.resource === 'pipelineruns' && r.verb === verb, 403, { times: 50 });
  await when.user.apply(ttlPolicy('runs', { ttl: verb === 'list' ? '1s' : '1h' }));
  await when.timePasses(minutes(10));
  if (verb === 'list') expect(await readyOf(then, 'ttlpolicy/runs')).toBe('False CannotRead');
  await when.faultsEnd();
  await when.timePasses(hours(1));
  await then.isGone('pipelinerun/a');
}
