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

test('the first replica makes it, the second uses the same; both trust what the configuration says', async () => {
  await configure();
  const one = await open();
  const two = await open();
  expect(two.current()).toEqual(one.current());
  expect(isSignedBy(one.current().cert, one.caBundle())).toBe(true);
  expect(await bundles()).toEqual([one.caBundle(), one.caBundle()]);
  expect((await client.get(Secret, SECRET))?.type).toBe('kubernetes.io/tls');
});

test('two that begin at once agree', async () => {
  const [one, two] = await Promise.all([open(), open()]);
  expect(two.current()).toEqual(one.current());
});

describe('renewal', () => {
  test('the leaf before it expires, by the same authority', async () => {
    await configure();
    const one = await open();
    const [before, bundle] = [one.current().cert, one.caBundle()];
    const seen: string[] = [];
    one.onChange(({ cert }) => seen.push(cert));
    await clock.advance(hours(59 * DAY));
    await rest();
    await one.look();
    expect(one.current().cert).toBe(before);
    await clock.advance(hours(2 * DAY));
    await rest();
    await one.look();
    expect(one.current().cert).not.toBe(before);
    expect(seen.at(-1)).toBe(one.current().cert);
    expect(one.caBundle()).toBe(bundle);
  });

  test('the authority before it expires; leaves of the old one are still trusted', async () => {
    await configure();
    const one = await open();
    const old = one.current().cert;
    await clock.advance(hours(551 * DAY));
    await rest();
    await one.look();
    const bundle = one.caBundle();
    expect(bundle.match(/BEGIN/g)).toHaveLength(2);
    expect([isSignedBy(one.current().cert, bundle), isSignedBy(old, bundle)]).toEqual([true, true]);
    expect(new Set(await bundles())).toEqual(new Set([bundle]));
  });

  test('another host name means another leaf', async () => {
    const one = await open();
    const two = await open(client, ['lapse.default.svc', 'localhost']);
    expect(two.current().cert).not.toBe(one.current().cert);
    expect(new X509Certificate(two.current().cert).checkHost('localhost')).toBe('localhost');
  });
});

test('somebody spoiled the Secret: it is made anew', async () => {
  const one = await open();
  const secret = (await client.get(Secret, SECRET))!;
  await client.update(Secret, { ...secret, data: { ...secret.data, 'tls.crt': 'bm8=' } });
  await one.look();
  expect(isSignedBy(one.current().cert, one.caBundle())).toBe(true);
});

test('a configuration that appears later, or loses its caBundle, is told', async () => {
  const one = await open();
  await configure();
  await one.look();
  expect(await bundles()).toEqual([one.caBundle(), one.caBundle()]);
});

test('what cannot be told is tried again within a minute; the certificate is served all the same', async () => {
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
