// Helm 3 and Helm 4 on the embedded server, over its socket: a chart with hooks and a CRD is installed, upgraded,
// rolled back and uninstalled. The requests are the same as to a real server, protobuf included.

import { dirname } from 'node:path';
import type { JsonObject } from '@lapse/kube/api/json';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Helm, helmFor } from '../kube/helm/build.ts';
import { writeChart } from '../kube/helm/chart.ts';
import { type EmbeddedSocket, startEmbeddedSocket } from './embeddedSocket.ts';
import { type Ask, asker } from './model/ask.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const OWN = ['kube-root-ca.crt'];

let embedded: EmbeddedSocket;
let ask: Ask;

beforeAll(async () => {
  embedded = await startEmbeddedSocket();
  ask = asker(embedded.target);
});
afterEach(() => expect(embedded.embedded.unexpected).toEqual([]));
afterAll(() => embedded?.close());

const namesIn = async (path: string): Promise<string[]> => {
  const { items } = (await ask('GET', path)).body as unknown as { items: { metadata: { name: string } }[] };
  return items.map(({ metadata }) => metadata.name).filter((name) => !OWN.includes(name));
};

const bodies = (type: string) => embedded.requests.filter(({ contentType }) => contentType === type).length;

describe.each([3, 4] as const)('Helm %i', (major) => {
  const namespace = `helm-${major}`;
  const elsewhere = `${namespace}-elsewhere`;
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const port = async () => {
    const { body } = await ask('GET', `/api/v1/namespaces/${namespace}/services/web`);
    return ((body as JsonObject)['spec'] as { ports: { port: number }[] }).ports[0]!.port;
  };
  let helm: Helm;
  let chart: string;
  let protobufBefore: number;
  const run = (...args: string[]) => helm.run(...args, '-n', namespace);

  beforeAll(async () => {
    const directory = dirname(embedded.kubeconfig);
    helm = await helmFor(major, { kubeconfig: embedded.kubeconfig, directory });
    for (const name of [namespace, elsewhere])
      await ask('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    chart = writeChart({ directory, id: namespace, elsewhere });
    protobufBefore = bodies(PROTOBUF);
  });

  test('installs: hooks first, the CRD before its object', async () => {
    expect(await run('install', 'shop', chart)).toContain('STATUS: deployed');
    expect(await namesIn(maps)).toEqual(
      expect.arrayContaining(['hook-pre-install', 'plain', 'listed', 'growing-0', 'only-old']),
    );
    expect(await namesIn(maps)).not.toContain('hook-pre-delete');
    const gadgets = `/apis/${namespace}.example.com/v1/namespaces/${namespace}/gadgets`;
    expect(await namesIn(gadgets)).toEqual(['mine']);
    expect(await namesIn(`/api/v1/namespaces/${elsewhere}/configmaps`)).toEqual(['foreign']);
    expect(await namesIn(secrets)).toEqual(['sh.helm.release.v1.shop.v1', 'web']);
  });

  test('upgrades: creates new objects and deletes those no longer in the chart', async () => {
    await run('upgrade', 'shop', chart, '--set', 'count=3,port=8080,old=false');
    expect(await port()).toBe(8080);
    const names = await namesIn(maps);
    expect(names).toEqual(expect.arrayContaining(['growing-0', 'growing-1', 'growing-2']));
    expect(names).not.toContain('only-old');
  });

  test('rolls back to the previous objects', async () => {
    await run('rollback', 'shop', '1');
    expect(await port()).toBe(80);
    const names = await namesIn(maps);
    expect(names).toContain('only-old');
    expect(names).not.toContain('growing-2');
    const history = JSON.parse(await run('history', 'shop', '-o', 'json')) as { status: string }[];
    expect(history.map(({ status }) => status)).toEqual(['superseded', 'superseded', 'deployed']);
  });

  test('an upgrade that the server refuses fails', async () => {
    await expect(run('upgrade', 'shop', chart, '--set', 'broken=true')).rejects.toThrow(
      /spec\.ports\[0\]\.port/,
    );
    expect(await run('status', 'shop')).toContain('STATUS: failed');
  });

  test('uninstalls everything except kept objects and the CRD; hooks run', async () => {
    await run('uninstall', 'shop');
    // Hooks without a delete policy stay, and so do objects with the policy keep.
    expect((await namesIn(maps)).sort()).toEqual(expect.arrayContaining(['hook-pre-delete', 'kept']));
    const gone = ['plain', 'growing-0', 'listed', 'hook-post-delete'];
    expect((await namesIn(maps)).filter((name) => gone.includes(name))).toEqual([]);
    expect(await namesIn(secrets)).toEqual([]);
    const definition = `gadgets.${namespace}.example.com`;
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect(await namesIn(definitions)).toContain(definition);
  });

  test('sends protobuf', () => expect(bodies(PROTOBUF)).toBeGreaterThan(protobufBefore));
});
