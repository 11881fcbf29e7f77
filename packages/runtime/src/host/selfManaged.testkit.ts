// Test fixture for the webhook's Secret: an embedded server with a webhook configuration, and replicas on a virtual clock.

import { X509Certificate } from 'node:crypto';
import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient } from '@lapse/kube/client/client';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { afterEach, beforeEach } from 'vitest';
import { openSelfManaged, type ReviewPaths, type SelfManagedCertificate } from './selfManaged.ts';

export interface Configuration extends KubeObject {
  webhooks: {
    name: string;
    clientConfig: { caBundle?: string; service?: { path?: string; [field: string]: unknown } };
    [field: string]: unknown;
  }[];
}
export const Configuration = defineKind<Configuration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  resource: 'validatingwebhookconfigurations',
  namespaced: false,
});
export const SECRET = { namespace: 'default', name: 'lapse-webhook' };

export let clock: VirtualClock;
let server: ApiServer;
export let client: Client;
export let opened: ReviewPaths[];

/** Creates a new server for each test of the calling file. */
export function useServer(): void {
  beforeEach(async () => {
    clock = new VirtualClock();
    server = await createServer({ clock, random: seededRandom(1) });
    client = createClient({
      transport: inProcessTransport(server.handle),
      clock,
      random: seededRandom(2),
      flow: 'none',
    });
    opened = [];
  });
  afterEach(async () => {
    for (const one of opened) one.close();
    await server.close();
  });
}

export const open = async (
  via: Client = client,
  hosts = ['lapse.default.svc'],
): Promise<SelfManagedCertificate> => {
  const made = await openSelfManaged({
    client: via,
    clock,
    log: silentLog,
    secret: SECRET,
    hosts,
    configurations: ['lapse'],
  });
  opened.push(made);
  return made;
};
export const configure = () =>
  client.create(Configuration, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'lapse' },
    webhooks: ['a.lapse.dev', 'b.lapse.dev'].map((name) => ({
      name,
      clientConfig: { service: { namespace: 'default', name: 'lapse' } },
      rules: [{ apiGroups: ['batch'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['jobs'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    })),
  });
export const bundles = async () =>
  (await client.get(Configuration, { name: 'lapse' }))!.webhooks.map(({ clientConfig }) =>
    Buffer.from(clientConfig.caBundle ?? '', 'base64').toString(),
  );
export const paths = async () =>
  (await client.get(Configuration, { name: 'lapse' }))!.webhooks.map(
    ({ clientConfig }) => clientConfig.service?.path,
  );
/** The path secret in the webhook configuration. */
export const injected = async (): Promise<string> =>
  /^\/review\/([^/]+)\/a$/.exec((await paths())[0] ?? '')![1]!;
export const isSignedBy = (leaf: string, bundle: string): boolean => {
  const authorities = bundle.split(/(?=-----BEGIN)/).map((pem) => new X509Certificate(pem));
  return authorities.some((ca) => new X509Certificate(leaf).verify(ca.publicKey));
};
/** Waits real event loop turns, because certificates are created outside the event loop. */
export const rest = async () => {
  for (let i = 0; i < 300; i++) await nextTurn();
};
export const pass = async (length: number) => {
  await clock.advance(length as never, rest);
};
