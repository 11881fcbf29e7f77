import type { Kind } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import { describe, expect, test } from 'vitest';
import { type Authorization, AuthorizedClient } from './authorizedClient.ts';
import { ReviewCache } from './reviewCache.ts';

const Pod = { group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true } as Kind;
const JANE = { username: 'jane' };
const ROBOT = { username: 'robot' };
const account = { namespace: 'ci', name: 'robot' };

/** A client whose reviews are answered from a set of `user verb resource`. Lapse itself is `self`. */
function reviewed(authorization: Omit<Authorization, 'client'>, ...allowed: string[]) {
  const asked: string[] = [];
  let elapsed = 0;
  const create = async (_kind: unknown, { spec }: { spec: ReviewSpec }) => {
    const { verb, resource } = spec.resourceAttributes;
    const right = `${spec.user ?? 'self'} ${verb} ${resource}`;
    asked.push(right);
    return { kind: 'created', object: { status: { allowed: allowed.includes(right) } } };
  };
  const client = { create } as unknown as Client;
  const reviews = new ReviewCache(client, { elapsed: () => elapsed as never });
  const signal = new AbortController().signal;
  return {
    asked,
    wait: (length: number) => {
      elapsed += length;
    },
    client: new AuthorizedClient({ client, ...authorization }, reviews, signal),
  };
}

interface ReviewSpec {
  readonly user?: string;
  readonly resourceAttributes: { readonly verb: string; readonly resource: string };
}

const IN_CI = { namespace: 'ci', name: 'p' };
const need = { verb: 'delete', group: '', resource: 'pods', namespace: 'ci' };

describe('a request', () => {
  test.each<[string, Omit<Authorization, 'client'>, string[], string | undefined, string[]]>([
    ['of Lapse itself is not reviewed', { impersonates: false }, [], undefined, []],
    ['that impersonates is left to the API server', { subject: JANE, impersonates: true }, [], undefined, []],
    [
      'for an author with the right may be sent',
      { subject: JANE, impersonates: false },
      ['jane delete pods'],
      undefined,
      ['jane delete pods'],
    ],
    [
      'for an author without the right may not be sent',
      { subject: JANE, impersonates: false },
      [],
      'jane may not delete pods p in namespace ci',
      ['jane delete pods'],
    ],
  ])('%s', async (_, authorization, allowed, refusal, asked) => {
    const given = reviewed(authorization, ...allowed);
    expect(await given.client.refusalTo('delete', Pod, IN_CI)).toBe(refusal);
    expect(given.asked).toEqual(asked);
  });
});

describe('a decision for a service account', () => {
  const asRobot = { subject: ROBOT, author: JANE, account, impersonates: true };
  test.each<[string, string[], string | undefined]>([
    [
      'needs the right of its author to impersonate the account',
      ['robot delete pods'],
      'jane may not impersonate serviceaccounts robot in namespace ci',
    ],
    [
      'needs the right of the account',
      ['jane impersonate serviceaccounts'],
      'robot may not delete pods in namespace ci',
    ],
    ['is made with both', ['jane impersonate serviceaccounts', 'robot delete pods'], undefined],
  ])('%s', async (_, allowed, refusal) => {
    expect(await reviewed(asRobot, ...allowed).client.refusal([need], true)).toBe(refusal);
  });
});

test('a positive review is reused for less than 30 s, and never for a decision', async () => {
  const given = reviewed({ subject: JANE, impersonates: false }, 'jane delete pods');
  await given.client.refusal([need], false);
  given.wait(29_999);
  await given.client.refusal([need], false);
  expect(given.asked).toHaveLength(1);
  await given.client.refusal([need], true);
  expect(given.asked).toHaveLength(2);
  given.wait(30_000);
  await given.client.refusal([need], false);
  expect(given.asked).toHaveLength(3);
});

test('a negative review is not reused', async () => {
  const given = reviewed({ subject: JANE, impersonates: false });
  await given.client.refusal([need], false);
  await given.client.refusal([need], false);
  expect(given.asked).toHaveLength(2);
});

test('an object is created for an author only if Lapse itself may create it, too', async () => {
  const asJane = { subject: JANE, impersonates: false };
  const { client } = reviewed(asJane, 'jane create pods', 'self get pods');
  expect(await client.refusalToCreate(Pod, 'ci')).toBe('Lapse may not create pods in namespace ci');
});
