import { hours, minutes } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { Secret } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { describe, expect, test } from 'vitest';
import {
  bundles,
  Configuration,
  client,
  clock,
  configure,
  injected,
  open,
  opened,
  pass,
  paths,
  rest,
  SECRET,
  useServer,
} from './selfManaged.testkit.ts';

useServer();

import { openPathSecret } from './selfManaged.ts';

describe('path secret of the webhook', () => {
  const withoutPath = async () => {
    const found = (await client.get(Configuration, { name: 'lapse' }))!;
    const webhooks = found.webhooks.map((one) => ({
      ...one,
      clientConfig: { ...one.clientConfig, service: { ...one.clientConfig.service, path: '/review/a' } },
    }));
    await client.update(Configuration, { ...found, webhooks });
  };

  test('every replica accepts the secret in the configurations, which has at least 32 bytes', async () => {
    await configure();
    const [one, two] = [await open(), await open()];
    const secret = await injected();
    expect(await paths()).toEqual([`/review/${secret}/a`, `/review/${secret}/b`]);
    expect([one.accepted(), two.accepted()].every((accepted) => accepted.includes(secret))).toBe(true);
    expect(one.accepted().every((accepted) => Buffer.from(accepted, 'hex').length === 32)).toBe(true);
  });

  test('a rotation fails no review: replicas already accept the next secret and keep accepting the previous one', async () => {
    await configure();
    const [one, two] = [await open(), await open()];
    const before = await injected();
    await clock.advance(hours(24));
    await rest();
    await one.refresh();
    const after = await injected();
    expect(after).not.toBe(before);
    expect(one.accepted()).toEqual(expect.arrayContaining([before, after]));
    expect(two.accepted()).toContain(after);
    await clock.advance(minutes(31));
    await rest();
    await one.refresh();
    expect(one.accepted()).toContain(await injected());
    expect(one.accepted()).not.toContain(before);
  });

  test('a process that starts more than an hour after the last rotation rotates the secret', async () => {
    await configure();
    const one = await open();
    const before = await injected();
    one.close();
    await clock.advance(hours(2));
    await open();
    expect(await injected()).not.toBe(before);
  });

  test('the secret is not rotated without the right to update the configurations', async () => {
    await configure();
    const limited: Client = {
      ...client,
      update: (kind, object, o) =>
        kind.resource.startsWith('validating')
          ? Promise.reject(new Error('forbidden'))
          : client.update(kind, object, o),
    };
    const one = await open(limited);
    const accepted = one.accepted();
    await clock.advance(hours(25));
    await rest();
    await one.refresh();
    expect(one.accepted()).toEqual(accepted);
  });

  test('a configuration that lost its path is repaired within ten seconds of a call with a wrong path', async () => {
    await configure();
    const one = await open();
    const secret = await injected();
    await withoutPath();
    await pass(minutes(1));
    expect((await paths())[0]).toBe('/review/a');
    one.refreshSoon();
    one.refreshSoon();
    await pass(10_000);
    await rest();
    expect(await injected()).toBe(secret);
  });

  test('calls with a wrong path cause at most one check in ten seconds', async () => {
    await configure();
    let reads = 0;
    const counted: Client = {
      ...client,
      get: (kind, key, o) => {
        if (kind.resource === 'secrets') reads++;
        return client.get(kind, key, o);
      },
    };
    const one = await open(counted);
    const before = reads;
    for (let second = 0; second < 60; second++) {
      for (let call = 0; call < 100; call++) one.refreshSoon();
      await pass(1000);
    }
    expect(reads - before).toBeGreaterThan(0);
    expect(reads - before).toBeLessThanOrEqual(6);
  });

  test('with a certificate from files the Secret contains only the paths, and the caBundle is not changed', async () => {
    await configure();
    const one = await openPathSecret({
      client,
      clock,
      log: silentLog,
      secret: SECRET,
      configurations: ['lapse'],
    });
    opened.push(one);
    expect(one.accepted()).toContain(await injected());
    expect(await bundles()).toEqual(['', '']);
    const secret = await client.get(Secret, SECRET);
    expect([secret?.type, Object.keys(secret?.data ?? {})]).toEqual(['Opaque', ['review-paths']]);
  });

  test('an invalid secret is replaced', async () => {
    await configure();
    const one = await open();
    const before = await injected();
    const secret = (await client.get(Secret, SECRET))!;
    await client.update(Secret, { ...secret, data: { ...secret.data, 'review-paths': 'bm8=' } });
    await one.refresh();
    expect(await injected()).not.toBe(before);
    expect(one.accepted()).toContain(await injected());
  });
});
