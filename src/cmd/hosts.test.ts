import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { realClock } from '#base/clock';
import type { Log } from '#base/log';
import type { Client } from '#client/client';
import type { Manager } from '#runtime/manager';
import { Registry } from '#runtime/metrics/registry';
import { readGeneral } from './configuration/general.ts';
import { loadConfiguration } from './configuration/load.ts';
import { type HostsOptions, openHosts } from './hosts.ts';
import { UsageError } from './usage.ts';

const cleanup: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});

async function open(flags: Record<string, string>, more: Partial<HostsOptions> = {}) {
  const lines: string[] = [];
  const say = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: say, info: say, warn: say, error: say, with: () => log };
  const hosts = await openHosts({
    general: readGeneral(loadConfiguration([], { flags, environment: {} })),
    inCluster: false,
    manager: {
      readiness: () => ({ ready: false, problems: ['pods: not synced yet'] }),
    } as unknown as Manager,
    registry: new Registry(),
    admission: [],
    clock: realClock,
    log,
    client: {} as Client,
    namespace: 'default',
    ...more,
  });
  cleanup.push(() => hosts.close());
  return lines;
}

/** A port that somebody else has. */
async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as { port: number }).port;
}

test('the status is served where it is asked for', async () => {
  const [line] = await open({ 'metrics-bind-address': '127.0.0.1:0' });
  const port = /"port":(\d+)/.exec(line!)![1];
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([503, 'not ready\npods: not synced yet\n']);
});

test('nowhere, when that is asked for', async () => {
  expect(await open({ 'metrics-bind-address': '0' })).toEqual([]);
});

test('a port that was asked for and is taken is a mistake', async () => {
  const port = await takenPort();
  await expect(open({ 'metrics-bind-address': `127.0.0.1:${port}` })).rejects.toThrow(UsageError);
});

test('a port that nobody asked for and that is taken is done without', async () => {
  const deskAddress = `127.0.0.1:${await takenPort()}`;
  expect((await open({}, { deskAddress }))[0]).toMatch(/^not serving .*is taken/);
});

test.each([
  [{}, /needs --webhook-cert-file/],
  [{ 'webhook-secret': 'lapse' }, /--webhook-hosts/],
  [{ 'webhook-cert-file': '/no/such', 'webhook-key-file': '/no/such' }, /--webhook-cert-file: ENOENT/],
])('a webhook without a certificate: %j', async (flags, message) => {
  const all = { ...flags, 'webhook-port': '127.0.0.1:0', 'metrics-bind-address': '127.0.0.1:0' };
  await expect(open(all)).rejects.toThrow(message);
});
