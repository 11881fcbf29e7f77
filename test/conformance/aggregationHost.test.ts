// An aggregated API of ours behind the embedded server, on a socket with certificates and in the process without: the user
// arrives, rights count, bytes are streamed, and nobody gets in past the front proxy.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '#api/json';
import { localOutbound } from '#apiserver/aggregation/localOutbound';
import { frontProxyCertificate } from '#apiserver/certificates';
import { httpsOutbound, noOutbound } from '#apiserver/webhooks/outbound';
import { issueCertificate, makeAuthority, type Pem } from '#base/certificates';
import { realClock } from '#base/clock';
import { hours } from '#base/instant';
import { silentLog } from '#base/log';
import { systemRandom } from '#base/random';
import { type Client, createClient } from '#client/client';
import { bearer, fixedCredentials } from '#client/credentials';
import { inProcessTransport } from '#client/inProcess';
import { type AggregatedApi, aggregatedHandler } from '#runtime/aggregated';
import { reviewingAuthorizer } from '#runtime/aggregated/access';
import { openAggregatedHost } from '#runtime/aggregated/host';
import type { Host } from '#runtime/host/listen';
import { access, type Embedded, startEmbedded } from './embeddedTarget.ts';
import { type Ask, asker } from './model/ask.ts';

const HOST = 'demo.default.svc';
const BASE = '/apis/demo.example.com/v1/namespaces/default/reports';
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

async function* pages() {
  for (const n of [1, 2, 3]) yield Buffer.from(`page ${n}\n`);
}

const api: AggregatedApi = {
  group: 'demo.example.com',
  version: 'v1',
  resources: [
    {
      resource: 'reports',
      kind: 'Report',
      namespaced: true,
      verbs: ['get'],
      answer: ({ name, user }) => ({
        object: {
          apiVersion: 'demo.example.com/v1',
          kind: 'Report',
          metadata: { name: name! },
          readBy: user.name,
        },
      }),
    },
    {
      resource: 'reports',
      subresource: 'pages',
      kind: 'Report',
      namespaced: true,
      verbs: ['get'],
      answer: () => ({ contentType: 'text/plain', body: pages() }),
    },
  ],
};

const clientOf = (embedded: Embedded, token: string): Client =>
  createClient({
    transport: inProcessTransport(embedded.server.handle),
    clock: realClock,
    random: systemRandom,
    credentials: fixedCredentials({ headers: bearer(token) }),
  });

async function register(ask: Ask, port: number, caBundle: string): Promise<void> {
  await ask('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'demo' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  await ask('POST', SERVICES, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.demo.example.com' },
    spec: {
      group: 'demo.example.com',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { name: 'demo', namespace: 'default', port },
      ...(caBundle === '' ? {} : { caBundle }),
    },
  });
  await vi.waitFor(
    async () => {
      const { body } = await ask('GET', `${SERVICES}/v1.demo.example.com`);
      expect((body as JsonObject)['status']).toMatchObject({ conditions: [{ status: 'True' }] });
    },
    { timeout: 30_000, interval: 20 },
  );
}

async function grantReports(ask: Ask): Promise<void> {
  const [group, name] = ['rbac.authorization.k8s.io', 'reader'];
  const base = `/apis/${group}/v1/namespaces/default`;
  const made = { apiVersion: `${group}/v1`, metadata: { name } };
  const rules = [{ apiGroups: ['demo.example.com'], resources: ['reports'], verbs: ['get'] }];
  await ask('POST', `${base}/roles`, { ...made, kind: 'Role', rules });
  await ask('POST', `${base}/rolebindings`, {
    ...made,
    kind: 'RoleBinding',
    roleRef: { apiGroup: group, kind: 'Role', name },
    subjects: [{ apiGroup: group, kind: 'User', name: 'nobody' }],
  });
}

const read = async (client: Client, path: string) => {
  const { status, body } = await client.raw({ method: 'GET', path });
  return { status, text: Buffer.from(body).toString() };
};

async function checkUse(embedded: Embedded): Promise<void> {
  const [admin, nobody] = [access.adminToken, access.nobodyToken].map((token) => clientOf(embedded, token));
  expect(JSON.parse((await read(admin!, `${BASE}/r`)).text)).toMatchObject({ readBy: 'admin' });
  expect(await read(admin!, `${BASE}/r/pages`)).toEqual({ status: 200, text: 'page 1\npage 2\npage 3\n' });
  expect((await read(nobody!, `${BASE}/r`)).status).toBe(403);
  await grantReports(asker(embedded));
  expect((await read(nobody!, `${BASE}/r`)).text).toContain('"readBy":"nobody"');
  expect((await read(nobody!, `${BASE}/r/pages`)).status).toBe(403);
  expect(await admin!.discovery.find({ group: 'demo.example.com', kind: 'Report' })).toMatchObject({
    resource: 'reports',
  });
  expect(embedded.unexpected).toEqual([]);
}

describe('on a socket', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-front-proxy-'));
  let authority: Pem;
  let embedded: Embedded;
  let host: Host;
  beforeAll(async () => {
    const now = realClock.now();
    const frontProxy = await frontProxyCertificate(directory, now);
    embedded = await startEmbedded({ outbound: httpsOutbound, frontProxy });
    authority = await makeAuthority('demo-ca', now, hours(2));
    const pair = await issueCertificate({ authority, hosts: [HOST], name: 'demo', now, lifetime: hours(1) });
    host = await openAggregatedHost({
      client: clientOf(embedded, access.adminToken),
      clock: realClock,
      log: silentLog,
      address: '127.0.0.1',
      port: 0,
      certificate: { current: () => pair, onChange: () => () => {} },
      api,
    });
    await register(asker(embedded), host.port, Buffer.from(authority.cert).toString('base64'));
  });
  afterAll(async () => {
    await embedded?.close();
    await host?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test('it is found, read and refused as the user', () => checkUse(embedded));

  test('whoever comes without the front proxy’s certificate is nobody', async () => {
    const dispatcher = new Agent({ connect: { ca: authority.cert, servername: HOST } });
    const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
    const answer = await request(`https://127.0.0.1:${host.port}${BASE}/r`, { dispatcher, headers });
    expect(answer.statusCode).toBe(401);
    await answer.body.dump();
    await dispatcher.close();
  });
});

test('in the process, it is found, read and refused as the user', async () => {
  let handle: ReturnType<typeof aggregatedHandler> | undefined;
  const embedded = await startEmbedded({
    outbound: localOutbound(
      {
        [HOST]: (asked, headers) =>
          handle!(asked, {
            verified: true,
            headers: (name) => headers[name] ?? [],
            headerNames: () => Object.keys(headers),
          }),
      },
      noOutbound,
    ),
  });
  handle = aggregatedHandler({
    api,
    log: silentLog,
    authorize: reviewingAuthorizer(clientOf(embedded, access.adminToken), realClock),
    frontProxy: () => ({
      authority: '',
      allowedNames: [],
      userHeaders: ['x-remote-user'],
      uidHeaders: ['x-remote-uid'],
      groupHeaders: ['x-remote-group'],
      extraPrefixes: ['x-remote-extra-'],
    }),
  });
  await register(asker(embedded), 443, '');
  await checkUse(embedded);
  await embedded.close();
});
