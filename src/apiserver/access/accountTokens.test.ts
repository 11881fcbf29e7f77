import { expect, test } from 'vitest';
import { millis, seconds } from '#base/instant';
import { seededRandom } from '#base/random';
import { VirtualClock } from '#base/virtualClock';
import { Store } from '../store/store.ts';
import { AccountTokens } from './accountTokens.ts';

const account = (uid: string) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'ci', uid },
});

async function setup() {
  const clock = new VirtualClock();
  const store = Store.inMemory(clock);
  await store.put('serviceaccounts', 'ci/robot', 0, account('u1'));
  const tokens = new AccountTokens({
    clock,
    store,
    random: seededRandom(1),
    key: new Uint8Array(32).fill(7),
  });
  return { clock, store, tokens, token: tokens.issue(account('u1'), 600, []) };
}

test('a token is its account, with the groups of its kind', async () => {
  const { tokens, token } = await setup();
  expect(tokens.user(token)).toMatchObject({
    username: 'system:serviceaccount:ci:robot',
    uid: 'u1',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
  });
});

test('one millisecond before its end it is good, at its end it is not', async () => {
  const { tokens, token, clock } = await setup();
  await clock.advance(millis(seconds(600) - 1));
  expect(tokens.user(token)).toBeDefined();
  await clock.advance(millis(1));
  expect(tokens.user(token)).toBeUndefined();
});

test('it ends with its account, also when another of the same name comes', async () => {
  const { tokens, token, store } = await setup();
  const head = store.getHead('serviceaccounts', 'ci/robot')!;
  await store.put('serviceaccounts', 'ci/robot', head.revision, account('u2'));
  expect(tokens.user(token)).toBeUndefined();
});

test('what was not signed here is nobody', async () => {
  const { tokens, token, store, clock } = await setup();
  const [header, claims, signature] = token.split('.');
  const other = new AccountTokens({ clock, store, random: seededRandom(1), key: new Uint8Array(32) });
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  const forged = Buffer.from(
    Buffer.from(claims!, 'base64url').toString().replaceAll('robot', 'admin'),
  ).toString('base64url');
  for (const text of [
    '',
    '.',
    '..',
    '...',
    'x'.repeat(100_000),
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}.${claims}.${signature}x`,
    `${header}.${claims}.${signature}.`,
    `${header}.${forged}.${signature}`,
    `${none}.${claims}.`,
    `${none}.${claims}.${signature}`,
    other.issue(account('u1'), 600, []),
  ])
    expect(tokens.user(text), text.slice(0, 40)).toBeUndefined();
});
