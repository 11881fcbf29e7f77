import { formatTime, millis, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import { expect, test } from 'vitest';
import { Store } from '../store/store.ts';
import { AccountTokens, ISSUER } from './accountTokens.ts';

const account = (uid: string) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', namespace: 'ci', uid },
});

const TEN_MINUTES = { lengthSeconds: 600, audiences: [ISSUER] };
const userOf = (tokens: AccountTokens, token: string) => {
  const result = tokens.authenticate(token, [ISSUER]);
  return result.kind === 'user' ? result.user : undefined;
};

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
  return { clock, store, tokens, token: tokens.issue(account('u1'), TEN_MINUTES) };
}

test('authenticates a token as its service account, with the groups of service accounts', async () => {
  const { tokens, token } = await setup();
  expect(userOf(tokens, token)).toMatchObject({
    username: 'system:serviceaccount:ci:robot',
    uid: 'u1',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
  });
});

test('accepts a token for exactly one minute after its expiry', async () => {
  const { tokens, token, clock } = await setup();
  await clock.advance(seconds(660));
  expect(userOf(tokens, token)).toBeDefined();
  await clock.advance(millis(1));
  expect(userOf(tokens, token)).toBeUndefined();
});

test('rejects the tokens of a terminating account after one minute', async () => {
  const { tokens, token, clock, store } = await setup();
  const head = store.getHead('serviceaccounts', 'ci/robot')!;
  const terminating = account('u1');
  await store.put('serviceaccounts', 'ci/robot', head.revision, {
    ...terminating,
    metadata: { ...terminating.metadata, deletionTimestamp: formatTime(clock.now()) },
  });
  await clock.advance(seconds(60));
  expect(userOf(tokens, token)).toBeDefined();
  await clock.advance(seconds(2));
  const why = 'service account ci/robot has been deleted';
  expect(tokens.authenticate(token, [ISSUER])).toEqual({ kind: 'refused', why });
});

test('rejects a token when its account was replaced by one of the same name', async () => {
  const { tokens, token, store } = await setup();
  const head = store.getHead('serviceaccounts', 'ci/robot')!;
  await store.put('serviceaccounts', 'ci/robot', head.revision, account('u2'));
  expect(userOf(tokens, token)).toBeUndefined();
});

test('rejects tokens that this server did not sign', async () => {
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
    other.issue(account('u1'), TEN_MINUTES),
  ])
    expect(userOf(tokens, text), text.slice(0, 40)).toBeUndefined();
});
