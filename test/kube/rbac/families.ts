// Every family under a service account of its own, on a server with RBAC, with the role that is made from its declaration
// and nothing else: it starts, works on the examples, is refused nothing it needs, and everything else. The same tests for
// every server that has RBAC.

import { mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { KubeObject } from '#api/object';
import { realClock } from '#base/clock';
import { silentLog } from '#base/log';
import { systemRandom } from '#base/random';
import { type Client, createClient } from '#client/client';
import { bearer, fixedCredentials } from '#client/credentials';
import { renderKubeconfig } from '#client/kubeconfigWrite';
import type { Transport } from '#client/transport';
import { undiciTransport } from '#client/undici';
import { type AssembledFamily, assemble } from '#cmd/assemble';
import { readGeneral } from '#cmd/configuration/general';
import { loadConfiguration } from '#cmd/configuration/load';
import { applyCrds, kindsOf } from '#cmd/crds';
import { buildAccess } from '#cmd/rbac';
import { readExamples } from '#cmd/up/examples';
import { FAMILIES } from '#controllers/registry';
import { Manager } from '#runtime/manager';
import { createHands } from '#sim/hands';
import { SNAPSHOT_KINDS } from '#standins/snapshotKinds';
import { standinsNamed } from '#standins/standins';
import { LapseProcess } from '../../cmd/lapseProcess.ts';

export interface Audited {
  readonly verb: string;
  /** With its subresource. */
  readonly resource: string;
  readonly code: number;
}

/** A server with RBAC that says what it was asked. */
export interface RbacServer {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly adminToken: string;
  /** For files of the test. */
  readonly directory: string;
  /** Every answered request of a user, who has this token. */
  audited(user: string, token: string): Audited[];
  close(): Promise<void>;
}

const NAMESPACE = 'lapse-system';
const FLAGS = { 'feature-gates': 'AllAlpha=true' };
const running: LapseProcess[] = [];
const wires: Transport[] = [];
let server: RbacServer;
let admin: Client;
let standins: Manager | undefined;

function open(): Transport {
  const wire = undiciTransport({ server: server.url, clock: realClock, tls: { ca: server.ca } });
  wires.push(wire);
  return wire;
}

const clientOf = (token: string): Client =>
  createClient({
    transport: open(),
    clock: realClock,
    random: systemRandom,
    credentials: fixedCredentials({ headers: bearer(token) }),
  });

/** The controllers of a family as `lapse run` makes them. */
function partsOf(name: string): AssembledFamily {
  const document = loadConfiguration(FAMILIES, { flags: FLAGS, environment: {} });
  const transport = open();
  const { families } = assemble({
    wires: {
      transport,
      leaseTransport: transport,
      credentials: fixedCredentials({ headers: {} }),
      namespace: NAMESPACE,
    },
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: FAMILIES.filter((family) => family.name === name),
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    identity: 'nobody',
  });
  return families[0]!;
}

async function tokenOf(name: string): Promise<string> {
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
  const answer = await admin.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${name}/token`,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: Buffer.from(body),
  });
  return JSON.parse(Buffer.from(answer.body).toString()).status.token;
}

const READS = new Set(['get', 'list', 'watch']);
const NOT_WORK = /^(events|leases|selfsubjectaccessreviews|subjectaccessreviews)$/;
const isWork = (verb: string, resource: string): boolean => !READS.has(verb) && !NOT_WORK.test(resource);

const read = (url: string) =>
  new Promise<string>((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });

/** What a family may not have to do, whatever it does. */
const OUTSIDE = [
  ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', 'ClusterRole'],
  ['POST', '/api/v1/nodes', 'Node'],
  ['POST', '/api/v1/namespaces/default/serviceaccounts', 'ServiceAccount'],
] as const;

/** The tests, on a server that `start` starts. */
export function describeFamilies(start: () => Promise<RbacServer>): void {
  beforeAll(async () => {
    server = await start();
    admin = clientOf(server.adminToken);
    await applyCrds(admin, realClock, [...kindsOf(FAMILIES), ...SNAPSHOT_KINDS]);
    const hands = createHands(admin);
    await hands.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } } as KubeObject);
    // What the examples need of a cluster and this one lacks.
    standins = new Manager({
      clock: realClock,
      random: systemRandom,
      client: admin,
      controllers: standinsNamed(['*']),
    });
    standins.start();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
  });
  afterAll(async () => {
    await standins?.stop();
    await Promise.all(wires.splice(0).map((wire) => wire.close?.()));
    await server?.close();
  });

  describe.each(FAMILIES.map(({ name }) => name))('%s', (family) => {
    test('works with exactly the rights it declares', async () => {
      const name = `only-${family}`;
      const parts = partsOf(family);
      const { controllers } = parts;
      const hands = createHands(admin);
      for (const object of buildAccess({ namespace: NAMESPACE, name }, parts)) await hands.apply(object);
      const token = await tokenOf(name);
      const directory = join(server.directory, name);
      mkdirSync(directory);
      const kubeconfig = join(directory, 'kubeconfig');
      const { url, ca } = server;
      writeFileSync(kubeconfig, renderKubeconfig({ name, server: url, ca, token, namespace: NAMESPACE }));
      const flags = Object.entries(FLAGS).map(([flag, value]) => `--${flag}=${value}`);
      const address = '--metrics-bind-address=127.0.0.1:0';
      const run = ['run', `--controllers=${family}`, address, '--kubeconfig', kubeconfig, ...flags];
      // Requests that the families before have carried out are old enough at once.
      const lapse = new LapseProcess(run, { REQUEST_TTL: '1s' });
      running.push(lapse);
      const [, port] = await lapse.says(/"serving \/healthz.*?"port":(\d+)/);
      for (const controller of controllers)
        await lapse.says(new RegExp(`"controller started".*"${controller.name}"`));

      // Something to do: an example that this cluster cannot take is of no interest here.
      for (const { text } of readExamples()) await hands.apply(text).catch(() => {});
      const asked = () => server.audited(`system:serviceaccount:${NAMESPACE}:${name}`, token);
      const work = () => asked().filter(({ verb, resource, code }) => code < 300 && isWork(verb, resource));
      await vi.waitFor(() => expect(work(), lapse.out).not.toEqual([]), { timeout: 40_000, interval: 200 });
      await new Promise((resolve) => setTimeout(resolve, 3000));
      const refused = asked().filter(({ code }) => code === 401 || code === 403);
      expect(refused, lapse.out).toEqual([]);
      const metrics = await read(`http://127.0.0.1:${port}/metrics`);
      expect([...metrics.matchAll(/^lapse_forbidden_total\{.*\} [1-9].*$/gm)].map(([line]) => line)).toEqual(
        [],
      );
      expect(lapse.out.split('\n').filter((line) => /rights are missing|[Ff]orbidden/.test(line))).toEqual(
        [],
      );
      expect(await lapse.end()).toBe(0);

      const itself = clientOf(token);
      for (const [method, path, kind] of OUTSIDE) {
        const body = Buffer.from(JSON.stringify({ kind, metadata: { name: 'x' } }));
        const headers = { 'content-type': 'application/json' };
        const { status } = await itself.raw({ method, path: `${path}?dryRun=All`, headers, body });
        expect([path, status]).toEqual([path, 403]);
      }
    });
  });
}
