import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { issueCertificate, makeAuthority, type Pem } from '@lapse/base/certificates';
import { realClock } from '@lapse/base/clock';
import { hours } from '@lapse/base/instant';
import type { Log } from '@lapse/base/log';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { Manager } from '@lapse/runtime/manager';
import { Registry } from '@lapse/runtime/metrics/registry';
import { afterEach, describe, expect, test } from 'vitest';
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

/** A port that another process uses. */
async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanup.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as { port: number }).port;
}

test('the status is served at the configured address', async () => {
  const [line] = await open({ 'metrics-bind-address': '127.0.0.1:0' });
  const port = /"port":(\d+)/.exec(line!)![1];
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([503, 'not ready\npods: not synced yet\n']);
});

test('the status is not served when disabled', async () => {
  expect(await open({ 'metrics-bind-address': '0' })).toEqual([]);
});

test('a configured port that is in use is a usage error', async () => {
  const port = await takenPort();
  await expect(open({ 'metrics-bind-address': `127.0.0.1:${port}` })).rejects.toThrow(UsageError);
});

test('a default port that is in use is skipped', async () => {
  const localAddress = `127.0.0.1:${await takenPort()}`;
  expect((await open({}, { localAddress }))[0]).toMatch(/^not serving .*is taken/);
});

test.each([
  [{}, /needs --webhook-cert-file/],
  [{ 'webhook-secret': 'lapse' }, /--webhook-hosts/],
  [{ 'webhook-cert-file': '/no/such', 'webhook-key-file': '/no/such' }, /--webhook-cert-file: ENOENT/],
])('a webhook without a certificate: %j', async (flags, message) => {
  const all = { ...flags, 'webhook-port': '127.0.0.1:0', 'metrics-bind-address': '127.0.0.1:0' };
  await expect(open(all)).rejects.toThrow(message);
});

describe('a webhook with a certificate from files', () => {
  const secretClient = () => {
    const objects = new Map<string, KubeObject>();
    const keyOf = (kind: { resource: string }, name?: string) => `${kind.resource}/${name}`;
    const put = async (kind: { resource: string }, object: KubeObject) => {
      objects.set(keyOf(kind, object.metadata.name), object);
      return { kind: 'created', object };
    };
    const get = async (kind: { resource: string }, { name }: { name: string }) =>
      objects.get(keyOf(kind, name));
    return { client: { get, create: put, update: put } as unknown as Client, objects };
  };
  async function files() {
    const directory = mkdtempSync(join(tmpdir(), 'lapse-hosts-'));
    cleanup.push(async () => rmSync(directory, { recursive: true }));
    const authority = await makeAuthority('ca', realClock.now(), hours(1));
    const write = (name: string, text: string) => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    return {
      'webhook-cert-file': write('crt', authority.cert),
      'webhook-key-file': write('key', authority.key),
      'webhook-port': '127.0.0.1:0',
      'metrics-bind-address': '0',
    };
  }
  const post = (lines: readonly string[], path: string, pair: Partial<Pem> = {}): Promise<number> =>
    new Promise((resolve, reject) => {
      const port = Number(
        /"port":(\d+)/.exec(lines.find((line) => line.startsWith('serving admission'))!)![1],
      );
      const call = request({
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        rejectUnauthorized: false,
        agent: false,
        ...pair,
      });
      call.on('response', (response) => resolve(response.resume().statusCode!));
      call.on('error', reject);
      call.end('{}');
    });
  const admission = [
    { name: 'jobs', resources: [], phase: 'validating', review: () => ({ allowed: true }) },
  ] as const satisfies HostsOptions['admission'];

  test('responds only on the path that the Secret and the webhook configurations contain', async () => {
    const { client, objects } = secretClient();
    const clientConfig = { service: { namespace: 'default', name: 'lapse' } };
    const webhooks = [{ name: 'jobs.lapse.dev', clientConfig }];
    objects.set('validatingwebhookconfigurations/lapse', { metadata: { name: 'lapse' }, webhooks } as never);
    const lines = await open({ ...(await files()), 'webhook-secret': 'paths' }, { client, admission });
    const injected = JSON.stringify(objects.get('validatingwebhookconfigurations/lapse'));
    const path = /\/review\/[0-9a-f]{64}\/jobs/.exec(injected)![0];
    expect(injected).not.toContain('caBundle');
    // A body that is not a review is parsed only after the secret path matches.
    expect(await post(lines, path)).toBe(400);
    expect(await post(lines, '/review/jobs')).toBe(404);
    expect(JSON.stringify(lines)).not.toContain(path);
  });

  test('with only a client CA, it rejects callers without a certificate', async () => {
    const flags = await files();
    const lines = await open(
      { ...flags, 'webhook-client-ca-file': flags['webhook-cert-file'] },
      { admission },
    );
    expect(await post(lines, '/review/jobs')).toBe(404);
  });

  test('with a client CA, it accepts the client with the configured name', async () => {
    const flags = await files();
    const [now, lifetime] = [realClock.now(), hours(1)];
    const authority = await makeAuthority('clients', now, lifetime);
    const issue = (name: string) =>
      issueCertificate({ authority, hosts: [], name, shownBy: 'client', now, lifetime });
    const file = join(dirname(flags['webhook-cert-file']), 'clients.crt');
    writeFileSync(file, authority.cert);
    const client = { 'webhook-client-ca-file': file, 'webhook-client-names': 'kube-apiserver' };
    const lines = await open({ ...flags, ...client }, { admission });
    expect(await post(lines, '/review/jobs', await issue('kube-apiserver'))).toBe(400);
    expect(await post(lines, '/review/jobs', await issue('alice'))).toBe(404);
    expect(await post(lines, '/review/jobs')).toBe(404);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'neither a Secret nor a client CA',
      {},
      /--webhook-port needs --webhook-secret .* or --webhook-client-ca-file/,
    ],
    ['names without a client CA', { 'webhook-client-names': 'a' }, /needs --webhook-client-ca-file/],
    [
      'a client CA file that does not exist',
      { 'webhook-client-ca-file': '/no/such' },
      /--webhook-client-ca-file: ENOENT/,
    ],
  ])('%s is a usage error', async (_what, flags, message) => {
    await expect(open({ ...(await files()), ...flags })).rejects.toThrow(message);
  });
});

const api = { group: 'demo.example.com', version: 'v1', resources: [] };

test('an aggregated API needs a certificate and a controller that serves it', async () => {
  const flags = { 'api-port': '127.0.0.1:0', 'metrics-bind-address': '0' };
  await expect(open(flags, { api })).rejects.toThrow(/--api-port needs --webhook-cert-file/);
  expect(await open(flags)).toEqual([expect.stringMatching(/no controller that was selected brings an API/)]);
});

test.each([
  ['a cluster without a front proxy', async () => undefined, /--api-port: there is no ConfigMap kube-system/],
  [
    'no right to read it',
    async () => {
      throw new ApiError(403, 'Forbidden', 'configmaps is forbidden');
    },
    /forbidden; bind the Role extension-apiserver-authentication-reader/,
  ],
])('%s: the API is refused, because no caller could be authenticated', async (_, get, message) => {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-hosts-'));
  cleanup.push(async () => rmSync(directory, { recursive: true }));
  const authority = await makeAuthority('ca', realClock.now(), hours(1));
  const files = { 'webhook-cert-file': join(directory, 'crt'), 'webhook-key-file': join(directory, 'key') };
  writeFileSync(files['webhook-cert-file'], authority.cert);
  writeFileSync(files['webhook-key-file'], authority.key);
  const flags = { ...files, 'api-port': '127.0.0.1:0', 'metrics-bind-address': '0' };
  await expect(open(flags, { api, client: { get } as unknown as Client })).rejects.toThrow(message);
});
