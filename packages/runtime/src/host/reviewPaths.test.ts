import { hours, instant, minutes } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { type ConfiguredWebhook, computeWebhook } from './configurations.ts';
import {
  computeAccepted,
  isAccepted,
  isRotationDue,
  type PathSecrets,
  readPathSecrets,
  rotate,
  writePathSecrets,
} from './reviewPaths.ts';

const T0 = instant(1_700_000_000_000);
const later = (by: number) => instant(T0 + by);
const first = rotate(undefined, T0);

describe('rotation of the path secret', () => {
  const due = { now: T0, starting: false, renewed: false };
  test.each<[string, PathSecrets | undefined, Partial<typeof due>, boolean]>([
    ['is due without secrets', undefined, {}, true],
    ['is not due for a new secret', first, { starting: true, renewed: true }, false],
    ['is not due on start within an hour', first, { now: later(hours(1) - 1), starting: true }, false],
    ['is due on start after an hour', first, { now: later(hours(1)), starting: true }, true],
    ['is due with a renewed certificate after an hour', first, { now: later(hours(1)), renewed: true }, true],
    ['is not due after an hour without a restart', first, { now: later(hours(1)) }, false],
    ['is due after a day', first, { now: later(hours(24)) }, true],
  ])('%s', (_rule, secrets, context, expected) => {
    expect(isRotationDue(secrets, { ...due, ...context })).toBe(expected);
  });

  test('uses the next secret, which the replicas already know', () => {
    const second = rotate(first, later(1));
    expect(second).toMatchObject({ current: first.next, previous: first.current, rotatedAt: later(1) });
    expect(new Set([second.current, second.next, second.previous]).size).toBe(3);
    expect(second.next).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each<[string, boolean, number, boolean]>([
    ['right after the rotation', true, 0, true],
    ['until half an hour after the rotation', true, minutes(30) - 1, true],
    ['not after half an hour', true, minutes(30), false],
    ['as long as the configurations are not updated', false, hours(23), true],
  ])('accepts the previous secret: %s', (_rule, isInjected, after, accepted) => {
    const second = rotate(first, T0);
    const now = computeAccepted(second, isInjected, later(after));
    expect(now).toEqual(expect.arrayContaining([second.current, second.next]));
    expect(now.includes(first.current)).toBe(accepted);
  });
});

describe('stored path secrets', () => {
  test('are read back as they were written', () => {
    const second = rotate(first, later(1));
    expect(readPathSecrets(writePathSecrets(second))).toEqual(second);
    expect(readPathSecrets(writePathSecrets(first))).toEqual(first);
  });

  test.each([
    '',
    '{',
    'null',
    '[]',
    '{}',
    JSON.stringify({ ...first, current: '' }),
    JSON.stringify({ ...first, next: 'short' }),
    JSON.stringify({ ...first, rotatedAt: 'now' }),
  ])('%j is invalid', (text) => {
    expect(readPathSecrets(text)).toBeUndefined();
  });
});

test.each<[string, boolean]>([
  [first.current, true],
  [first.next, true],
  ['', false],
  [first.current.slice(1), false],
  [`${first.current}x`, false],
])('the candidate %j is accepted: %s', (candidate, accepted) => {
  expect(isAccepted(candidate, [first.current, first.next])).toBe(accepted);
  expect(isAccepted(candidate, [])).toBe(false);
});

describe('address in a webhook configuration', () => {
  const service = { namespace: 'n', name: 's', port: 443 };
  const url = (path: string) => ({ url: `https://127.0.0.1:9443${path}` });
  const injected = { service: { ...service, path: '/review/NEW/jobs' } };
  test.each<[string, ConfiguredWebhook['clientConfig'], object]>([
    ['a Service without a path gets the path of the webhook name', { service }, injected],
    ['a Service with a path without a secret', { service: { ...service, path: '/review/jobs' } }, injected],
    ['a Service with an older secret', { service: { ...service, path: '/review/OLD/jobs' } }, injected],
    ['a URL without a path', url(''), url('/review/NEW/jobs')],
    ['a URL with an older secret', url('/review/OLD/other'), url('/review/NEW/other')],
  ])('%s', (_rule, clientConfig, expected) => {
    const next = computeWebhook({ name: 'jobs.lapse.dev', clientConfig: clientConfig! }, { secret: 'NEW' });
    expect(next.clientConfig).toEqual(expected);
    const trusted = computeWebhook(next, { secret: 'NEW', bundle: 'PEM' });
    expect(trusted.clientConfig).toEqual({ ...expected, caBundle: 'UEVN' });
  });

  test.each<[string, ConfiguredWebhook['clientConfig']]>([
    ['another path', { service: { ...service, path: '/convert' } }],
    ['a longer path', url('/review/a/b/c')],
    ['no address', {}],
  ])('%s is not changed', (_rule, clientConfig) => {
    const webhook = { name: 'jobs.lapse.dev', clientConfig: clientConfig! };
    expect(computeWebhook(webhook, { secret: 'NEW', bundle: 'PEM' })).toEqual(webhook);
  });
});
