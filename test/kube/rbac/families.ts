// Every family under a separate service account, on a server with RBAC, with exactly the role generated from its
// declaration: it starts, works on the examples, has no needed request refused, and every other request is refused. The
// same tests for every server with RBAC.

import { get } from 'node:http';
import { partsOf } from 'lapse/cli/manifests/needs';
import { readExamples } from 'lapse/cli/up/examples';
import { FAMILIES } from 'lapse/controllers/registry';
import { buildAccess } from 'lapse/manager/rbac';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { NAMESPACE } from '../../scenarios/rbac/installation.ts';
import { type FamilyCluster, openFamilyCluster, type Place } from './cluster.ts';

export interface Audited {
  readonly verb: string;
  /** With its subresource. */
  readonly resource: string;
  readonly code: number;
}

/** A server with RBAC that records its requests. */
export interface RbacServer extends Place {
  /** Every answered request of the user with this token. */
  audited(user: string, token: string): Audited[];
  close(): Promise<void>;
}

const FLAGS = { 'feature-gates': 'AllAlpha=true' };
let server: RbacServer;
let cluster: FamilyCluster;

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

/** Requests that no family may send. */
const OUTSIDE = [
  ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', 'ClusterRole'],
  ['POST', '/api/v1/nodes', 'Node'],
  ['POST', '/api/v1/namespaces/default/serviceaccounts', 'ServiceAccount'],
] as const;

/** The tests, on a server that `start` starts. */
export function describeFamilies(start: () => Promise<RbacServer>): void {
  beforeAll(async () => {
    server = await start();
    cluster = await openFamilyCluster(server);
  });
  afterEach(() => cluster.endProcesses());
  afterAll(async () => {
    await cluster?.close();
    await server?.close();
  });

  describe.each(FAMILIES.map((family) => [family.name, family] as const))('%s', (_, family) => {
    test('works with exactly the rights it declares', async () => {
      const name = `only-${family.name}`;
      const parts = partsOf(family, FAMILIES, FLAGS, { trash: { namespace: NAMESPACE } });
      const { userClient } = cluster;
      for (const object of buildAccess({ namespace: NAMESPACE, name }, parts)) await userClient.apply(object);
      const token = await cluster.tokenOf(name);
      const flags = Object.entries(FLAGS).map(([flag, value]) => `--${flag}=${value}`);
      const address = '--metrics-bind-address=127.0.0.1:0';
      const lapse = cluster.run(name, token, [`--controllers=${family.name}`, address, ...flags]);
      const [, port] = await lapse.says(/"serving \/healthz.*?"port":(\d+)/);
      for (const controller of parts.controllers)
        await lapse.says(new RegExp(`"controller started".*"${controller.name}"`));

      // Something to do. An example that this cluster refuses does not matter here.
      for (const { text } of readExamples()) await userClient.apply(text).catch(() => {});
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
      expect(
        lapse.out.split('\n').filter((line) => /permissions are missing|[Ff]orbidden/.test(line)),
      ).toEqual([]);
      expect(await lapse.end()).toBe(0);

      const itself = cluster.clientOf(token);
      for (const [method, path, kind] of OUTSIDE) {
        const body = Buffer.from(JSON.stringify({ kind, metadata: { name: 'x' } }));
        const headers = { 'content-type': 'application/json' };
        const { status } = await itself.raw({ method, path: `${path}?dryRun=All`, headers, body });
        expect([path, status]).toEqual([path, 403]);
      }
    });
  });
}
