// Cleaners on a real API server, with its RBAC for service accounts, its discovery of kinds, and its watches.

import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { Cleaner, type CleanerSpec } from 'lapse/api/cleaner';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Bed, startBed } from '../bed/bed.ts';
import { type Cluster, create, openCluster } from './cluster.ts';

let bed: Bed;
let cluster: Cluster;
let stop: () => Promise<void>;
beforeAll(async () => {
  bed = await startBed();
  cluster = await openCluster(bed);
  stop = await cluster.start({ actAs: 'controller' });
});
afterAll(async () => {
  await stop?.();
  await cluster?.close();
  await bed?.stop();
});

let count = 0;
async function namespace(): Promise<string> {
  const name = `c${count++}`;
  await create(cluster.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}
const cleaner = (ns: string, spec: Partial<CleanerSpec>): Cleaner => ({
  apiVersion: 'cleaner.vtex.dev/v1alpha',
  kind: 'Cleaner',
  metadata: { name: 'c', namespace: ns },
  spec: { ttl: '0s', ...spec },
});
const configMap = (ns: string, name: string, labels = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: ns, labels },
});
const target = (name: string, which: string | Record<string, string>, flags: object) => ({
  name,
  reference: { kind: 'configmap', ...(typeof which === 'string' ? { name: which } : { matchLabels: which }) },
  ...flags,
});
const reason = async (ns: string): Promise<string | undefined> =>
  (await cluster.client.get(Cleaner, { namespace: ns, name: 'c' }))?.status?.conditions?.[0]?.reason;
const exists = async (ns: string, name: string): Promise<boolean> =>
  (await cluster.client.get(ConfigMap, { namespace: ns, name })) !== undefined;
const soon = (what: () => Promise<void>) => vi.waitFor(what, { timeout: 20_000, interval: 50 });
const patient = { timeout: 20_000, interval: 100 };

describe('as the server sees it', () => {
  test('the CRD is accepted as it is, columns and status subresource included', async () => {
    const ns = await namespace();
    await create(cluster.client, cleaner(ns, { ttl: '360h' }));
    await soon(async () => expect(await reason(ns)).toBe('NotExpired'));
    const table = await bed.kubectl('get', 'cln', '-n', ns);
    expect(table).toMatch(/NAME\s+TTL\s+READY\s+REASON\s+NEXT\s+AGE/);
    expect(table).toMatch(/c\s+360h\s+True\s+NotExpired\s+\d{4}-/);
  });

  test('a change triggers within a second, and the recorded objects are deleted', async () => {
    const ns = await namespace();
    await create(
      cluster.client,
      configMap(ns, 'a', { app: 'x' }),
      configMap(ns, 'b', { app: 'y' }),
      cleaner(ns, {
        targets: [target('maps', { app: 'x' }, { includeWhenEvaluating: true, delete: true })],
        conditions: ['maps.items.all(m, "done" in m.metadata.labels)'],
        retry: { period: '5h', monotonic: true },
      }),
    );
    await soon(async () => expect(await reason(ns)).toBe('WaitingForConditions'));
    const started = Date.now();
    await bed.kubectl('label', 'configmap', 'a', '-n', ns, 'done=yes');
    await vi.waitFor(async () => expect(await exists(ns, 'a')).toBe(false), {
      timeout: 10_000,
      interval: 20,
    });
    expect(Date.now() - started).toBeLessThan(5000);
    await vi.waitFor(async () => expect(await reason(ns)).toBeUndefined(), patient);
    expect(await exists(ns, 'b')).toBe(true);
  });

  test('a kind that is installed later is discovered', async () => {
    const ns = await namespace();
    await create(
      cluster.client,
      configMap(ns, 'a'),
      cleaner(ns, {
        targets: [
          {
            name: 'w',
            reference: { apiGroup: 'late.example.com', kind: 'widget', matchLabels: { a: 'b' } },
            includeWhenEvaluating: true,
          },
          target('a', 'a', { delete: true }),
        ],
        conditions: ['w.items.size() == 0'],
        retry: { period: '5h' },
      }),
    );
    await soon(async () => expect(await reason(ns)).toBe('KindNotServed'));
    await create(cluster.client, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.late.example.com' },
      spec: {
        group: 'late.example.com',
        scope: 'Namespaced',
        names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    });
    await vi.waitFor(async () => expect(await exists(ns, 'a')).toBe(false), {
      timeout: 60_000,
      interval: 200,
    });
  });
});

describe('service accounts under real RBAC', () => {
  const role = (ns: string, verbs: string[]): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'robot', namespace: ns },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
  });
  const binding = (ns: string): KubeObject => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'robot', namespace: ns },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'robot' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: ns }],
  });

  test('without the right to delete nothing is deleted; once granted, it is', async () => {
    const ns = await namespace();
    await create(
      cluster.client,
      configMap(ns, 'a'),
      role(ns, ['get', 'list', 'watch']),
      binding(ns),
      cleaner(ns, {
        serviceAccountName: 'robot',
        targets: [target('a', 'a', { includeWhenEvaluating: true, delete: true })],
        conditions: ['true'],
        retry: { period: '2s' },
      }),
    );
    await soon(async () => expect(await reason(ns)).toBe('Forbidden'));
    expect(await exists(ns, 'a')).toBe(true);
    await bed.kubectl(
      'patch',
      'role',
      'robot',
      '-n',
      ns,
      '--type=json',
      '-p',
      '[{"op":"add","path":"/rules/0/verbs/-","value":"delete"}]',
    );
    await soon(async () => expect(await exists(ns, 'a')).toBe(false));
    await vi.waitFor(async () => expect(await reason(ns)).toBeUndefined(), patient);
  });

  test('conditions cannot read what the account may not read', async () => {
    const ns = await namespace();
    await create(
      cluster.client,
      configMap(ns, 'a'),
      cleaner(ns, {
        serviceAccountName: 'default',
        targets: [target('a', 'a', { includeWhenEvaluating: true })],
        conditions: ['a.metadata.name == "a"'],
        retry: { period: '5s' },
      }),
    );
    await soon(async () => expect(await reason(ns)).toBe('Forbidden'));
    expect(
      (await cluster.client.get(Cleaner, { namespace: ns, name: 'c' }))?.status?.evaluations,
    ).toBeUndefined();
  });
});
