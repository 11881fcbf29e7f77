import { X509Certificate } from 'node:crypto';
import { hours, minutes } from '@lapse/base/instant';
import { Secret } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { describe, expect, test } from 'vitest';
import {
  bundles,
  client,
  clock,
  configure,
  isSignedBy,
  open,
  pass,
  rest,
  SECRET,
  useServer,
} from './selfManaged.testkit.ts';

useServer();
const DAY = 24;

test('the first replica creates the certificate, the second uses it, and the caBundle verifies both', async () => {
  await configure();
  const one = await open();
  const two = await open();
  expect(two.current()).toEqual(one.current());
  expect(isSignedBy(one.current().cert, one.caBundle())).toBe(true);
  expect(await bundles()).toEqual([one.caBundle(), one.caBundle()]);
  expect((await client.get(Secret, SECRET))?.type).toBe('kubernetes.io/tls');
});

test('two replicas that start at the same time use the same certificate', async () => {
  const [one, two] = await Promise.all([open(), open()]);
  expect(two.current()).toEqual(one.current());
});

describe('certificate renewal', () => {
  test('renews the certificate before it expires, with the same CA', async () => {
    await configure();
    const one = await open();
    const [before, bundle] = [one.current().cert, one.caBundle()];
    const seen: string[] = [];
    one.onChange(({ cert }) => seen.push(cert));
    await clock.advance(hours(59 * DAY));
    await rest();
    await one.refresh();
    expect(one.current().cert).toBe(before);
    await clock.advance(hours(2 * DAY));
    await rest();
    await one.refresh();
    expect(one.current().cert).not.toBe(before);
    expect(seen.at(-1)).toBe(one.current().cert);
    expect(one.caBundle()).toBe(bundle);
  });

  test('renews the CA before it expires and keeps the old CA in the caBundle', async () => {
    await configure();
    const one = await open();
    const old = one.current().cert;
    await clock.advance(hours(551 * DAY));
    await rest();
    await one.refresh();
    const bundle = one.caBundle();
    expect(bundle.match(/BEGIN/g)).toHaveLength(2);
    expect([isSignedBy(one.current().cert, bundle), isSignedBy(old, bundle)]).toEqual([true, true]);
    expect(new Set(await bundles())).toEqual(new Set([bundle]));
  });

  test('creates a new certificate for another host name', async () => {
    const one = await open();
    const two = await open(client, ['lapse.default.svc', 'localhost']);
    expect(two.current().cert).not.toBe(one.current().cert);
    expect(new X509Certificate(two.current().cert).checkHost('localhost')).toBe('localhost');
  });
});

test('an invalid Secret is replaced', async () => {
  const one = await open();
  const secret = (await client.get(Secret, SECRET))!;
  await client.update(Secret, { ...secret, data: { ...secret.data, 'tls.crt': 'bm8=' } });
  await one.refresh();
  expect(isSignedBy(one.current().cert, one.caBundle())).toBe(true);
});

test('the caBundle is injected into a configuration that is created later or loses it', async () => {
  const one = await open();
  await configure();
  await one.refresh();
  expect(await bundles()).toEqual([one.caBundle(), one.caBundle()]);
});

test('a failed injection is retried within a minute, and the certificate is served meanwhile', async () => {
  await configure();
  let refused = true;
  const limited: Client = {
    ...client,
    update: (kind, object, o) =>
      refused && kind.resource.startsWith('validating')
        ? Promise.reject(new Error('forbidden'))
        : client.update(kind, object, o),
  };
  const one = await open(limited);
  expect(await bundles()).toEqual(['', '']);
  refused = false;
  await pass(minutes(1));
  await rest();
  expect(await bundles()).toEqual([one.caBundle(), one.caBundle()]);
});
