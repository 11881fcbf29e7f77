// An aggregated API of Lapse behind the embedded server, on a socket with certificates and in the process without: the
// user is passed on, authorization applies, bytes are streamed, and clients cannot bypass the front proxy.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpsOutbound, noOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { localOutbound } from '@lapse/apiserver/aggregation/localOutbound';
import { frontProxyCertificate } from '@lapse/apiserver/authn/certificates';
import type { Pem } from '@lapse/base/certificates';
import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import { asJson } from '@lapse/kube/api/object';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { reviewingAuthorizer } from '@lapse/runtime/aggregated/access';
import { aggregatedHandler } from '@lapse/runtime/aggregated/aggregated';
import {
  DEMO_API_SERVICE,
  DEMO_BASE,
  DEMO_HOST,
  DEMO_PAGES,
  type DemoHost,
  demoApi,
  demoRegistration,
  openDemoHost,
  readText,
} from '@lapse/runtime/aggregated/demo.testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { access, type Embedded, startEmbedded } from './embeddedTarget.ts';
import { type Ask, asker } from './model/ask.ts';

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';

const clientOf = (embedded: Embedded, token: string): Client =>
  createClient({
    transport: inProcessTransport(embedded.server.handle),
    clock: realClock,
    random: systemRandom,
    credentials: fixedCredentials({ headers: bearer(token) }),
  });

async function register(ask: Ask, port: number, authority?: Pem): Promise<void> {
  const [service, apiService] = demoRegistration(port, authority);
  await ask('POST', '/api/v1/namespaces/default/services', asJson(service));
  await ask('POST', SERVICES, asJson(apiService));
  await vi.waitFor(
    async () => {
      const { body } = await ask('GET', `${SERVICES}/${DEMO_API_SERVICE}`);
      expect((body as JsonObject)['status']).toMatchObject({ conditions: [{ status: 'True' }] });
    },
    { timeout: 30_000, interval: 20 },
  );
}

async function grantReports(ask: Ask): Promise<void> {
  const [group, name] = ['rbac.authorization.k8s.io', 'reader'];
  const base = `/apis/${group}/v1/namespaces/default`;
  const made = { apiVersion: `${group}/v1`, metadata: { name } };
  const rules = [{ apiGroups: [demoApi.group], resources: ['reports'], verbs: ['get'] }];
  await ask('POST', `${base}/roles`, { ...made, kind: 'Role', rules });
  await ask('POST', `${base}/rolebindings`, {
    ...made,
    kind: 'RoleBinding',
    roleRef: { apiGroup: group, kind: 'Role', name },
    subjects: [{ apiGroup: group, kind: 'User', name: 'nobody' }],
  });
}

async function checkUse(embedded: Embedded): Promise<void> {
  const [admin, nobody] = [access.adminToken, access.nobodyToken].map((token) => clientOf(embedded, token));
  expect(JSON.parse((await readText(admin!, `${DEMO_BASE}/r`)).text)).toMatchObject({ readBy: 'admin' });
  expect(await readText(admin!, `${DEMO_BASE}/r/pages`)).toEqual({ status: 200, text: DEMO_PAGES });
  expect((await readText(nobody!, `${DEMO_BASE}/r`)).status).toBe(403);
  await grantReports(asker(embedded));
  expect((await readText(nobody!, `${DEMO_BASE}/r`)).text).toContain('"readBy":"nobody"');
  expect((await readText(nobody!, `${DEMO_BASE}/r/pages`)).status).toBe(403);
  expect(await admin!.discovery.find({ group: demoApi.group, kind: 'Report' })).toMatchObject({
    resource: 'reports',
  });
  expect(embedded.unexpected).toEqual([]);
}

describe('on a socket', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-front-proxy-'));
  let embedded: Embedded;
  let host: DemoHost;
  beforeAll(async () => {
    const frontProxy = await frontProxyCertificate(directory, realClock.now());
    embedded = await startEmbedded({ outbound: httpsOutbound, frontProxy });
    host = await openDemoHost(clientOf(embedded, access.adminToken));
    await register(asker(embedded), host.port, host.authority);
  });
  afterAll(async () => {
    await embedded?.close();
    await host?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test('it is discovered, read and refused as the user', () => checkUse(embedded));

  test('a client without the front proxy’s certificate is anonymous', async () => {
    expect(await host.requestWithoutCertificate()).toBe(401);
  });
});

test('in the process, it is discovered, read and refused as the user', async () => {
  let handle: ReturnType<typeof aggregatedHandler> | undefined;
  const embedded = await startEmbedded({
    outbound: localOutbound(
      {
        [DEMO_HOST]: (asked, headers) =>
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
    api: demoApi,
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
  await register(asker(embedded), 443);
  await checkUse(embedded);
  await embedded.close();
});
