import { VirtualClock } from '@lapse/base/virtualClock';
import { keyOf } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import { expect, test } from 'vitest';
import { PipelineRun } from '../../../../../test/scenarios/pipelineRuns.ts';
import { Policies } from './policies.ts';
import { at, compiled, NO_LIMITS, policy } from './policy.testkit.ts';

test('with actAs impersonate-author, DELETEs of a policy are sent as its author', () => {
  const [client, asAuthor] = [{} as Client, {} as Client];
  const authors: string[] = [];
  const policies = new Policies({
    clock: new VirtualClock(),
    client,
    impersonate: () => client,
    limits: NO_LIMITS,
    impersonateAuthor: ({ username }) => {
      authors.push(username);
      return asAuthor;
    },
  });
  const known = policy();
  const entry = policies.entryOf(known, keyOf(known), at(0));
  const author = { username: 'jane', groups: ['dev'] };
  const active = policies.activate(entry, compiled({}), { target: PipelineRun, author }, at(0));
  expect(active.client).toBe(asAuthor);
  expect(authors).toEqual(['jane']);
});

test('a policy is pending since it started to list its targets, regardless of an earlier refusal', () => {
  const client = {} as Client;
  const policies = new Policies({
    clock: new VirtualClock(),
    client,
    impersonate: () => client,
    limits: NO_LIMITS,
  });
  const known = policy();
  expect([policies.standingOf(known), policies.sinceOf(known)]).toEqual(['pending', undefined]);
  const entry = policies.entryOf(known, keyOf(known), at(0));
  expect(policies.sinceOf(known)).toBe(at(0));
  policies.activate(entry, compiled({}), { target: PipelineRun }, at(3600));
  expect([policies.standingOf(known), policies.sinceOf(known)]).toEqual(['pending', at(3600)]);
});
