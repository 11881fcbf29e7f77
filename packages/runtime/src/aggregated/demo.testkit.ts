// Test fixture for aggregated APIs on the embedded and the real API server: an API of reports and their pages on a TLS
// socket, the objects that register it, and a request without the front proxy's certificate.

import { issueCertificate, makeAuthority, type Pem } from '@lapse/base/certificates';
import { realClock } from '@lapse/base/clock';
import { hours } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { Agent, request } from 'undici';
import type { Host } from '../host/listen.ts';
import type { AggregatedApi } from './api.ts';
import { openAggregatedHost } from './host.ts';

const GROUP = 'demo.lapse.dev';
const SERVICE = 'demo-api';
export const DEMO_API_SERVICE = `v1.${GROUP}`;
export const DEMO_HOST = `${SERVICE}.default.svc`;
export const DEMO_BASE = `/apis/${GROUP}/v1/namespaces/default/reports`;
export const DEMO_PAGES = 'page 1\npage 2\npage 3\n';

async function* pages() {
  for (const n of [1, 2, 3]) yield Buffer.from(`page ${n}\n`);
}

const report = (name: string, namespace: string, readBy: string) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Report',
  metadata: { name, namespace },
  readBy,
});

/** A report contains the name of the user who reads it. */
export const demoApi: AggregatedApi = {
  group: GROUP,
  version: 'v1',
  resources: [
    {
      resource: 'reports',
      kind: 'Report',
      namespaced: true,
      verbs: ['get', 'list'],
      answer({ name, namespace = 'default', user, verb }) {
        if (verb === 'get') return { object: report(name!, namespace, user.name) };
        const items = [report('first', namespace, user.name)];
        return { object: { apiVersion: `${GROUP}/v1`, kind: 'ReportList', metadata: {}, items } };
      },
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

export interface DemoHost extends Host {
  readonly authority: Pem;
  /** Sends a GET with the front proxy's headers but without its certificate. Returns the status code. */
  requestWithoutCertificate(): Promise<number>;
}

/** Opens a socket on the local machine, with a certificate for the Service. */
export async function openDemoHost(client: Client): Promise<DemoHost> {
  const now = realClock.now();
  const authority = await makeAuthority('demo-ca', now, hours(24));
  const hosts = [DEMO_HOST];
  const pair = await issueCertificate({ authority, hosts, name: 'demo', now, lifetime: hours(12) });
  const host = await openAggregatedHost({
    client,
    clock: realClock,
    log: silentLog,
    address: '127.0.0.1',
    port: 0,
    certificate: { current: () => pair, onChange: () => () => {} },
    api: demoApi,
  });
  return {
    ...host,
    authority,
    async requestWithoutCertificate() {
      const dispatcher = new Agent({ connect: { ca: authority.cert, servername: DEMO_HOST } });
      const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
      const answer = await request(`https://127.0.0.1:${host.port}${DEMO_BASE}/first`, {
        dispatcher,
        headers,
      });
      await answer.body.dump();
      await dispatcher.close();
      return answer.statusCode;
    },
  };
}

/** The Service and the APIService. Omit the authority for a server that does not verify it. */
export const demoRegistration = (port: number, authority?: Pem): [KubeObject, KubeObject] => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE, namespace: 'default' },
    spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
  },
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: DEMO_API_SERVICE },
    spec: {
      group: GROUP,
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { name: SERVICE, namespace: 'default', port },
      ...(authority === undefined ? {} : { caBundle: Buffer.from(authority.cert).toString('base64') }),
    },
  },
];

/** Sends a GET and returns the body as text. */
export async function readText(client: Client, path: string): Promise<{ status: number; text: string }> {
  const { status, body } = await client.raw({ method: 'GET', path });
  return { status, text: Buffer.from(body).toString() };
}
