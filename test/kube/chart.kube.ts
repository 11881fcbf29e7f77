// The chart on a real API server, with the real Helm: install, upgrade, downgrade, upgrade, uninstall. Checks what it
// creates and deletes. The process of its Deployment works with the chart's account and configuration.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '@lapse/kube/api/object';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isCI } from '../ci.ts';
import { LapseProcess } from '../cmd/lapseProcess.ts';
import { type Bed, startBed } from './bed/bed.ts';
import {
  CHART,
  documentsOf,
  finishedJob,
  NAMESPACE,
  type Objects,
  objectsOf,
  runOutside,
} from './chart/chartBed.ts';
import { previousChart } from './chart/previous.ts';
import { type Helm, type HelmMajor, helmFor } from './helm/build.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lapse-previous-'));
const previous = await previousChart({
  repository: join(CHART, '../..'),
  directory: scratch,
  isCI,
});

let bed: Bed;
let objects: Objects;
const running: LapseProcess[] = [];

beforeAll(async () => {
  bed = await startBed({
    controllers: [
      'clusterrole-aggregation-controller',
      'garbage-collector-controller',
      'namespace-controller',
    ],
  });
  objects = objectsOf(bed);
});
afterAll(async () => {
  await Promise.all(running.map((lapse) => lapse.end('SIGKILL')));
  await bed?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const patient = { timeout: 120_000, interval: 100 };

/** The same chart at an older state: another version, and a CRD with fewer printed columns. */
function olderChart(name: string): string {
  const directory = join(bed.directory, name);
  cpSync(CHART, directory, { recursive: true });
  const edit = (file: string, from: RegExp, to: string) => {
    const path = join(directory, file);
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(from);
    writeFileSync(path, text.replace(from, to));
  };
  edit('Chart.yaml', /version: .*\nappVersion: .*/, 'version: 0.0.9\nappVersion: 0.0.9');
  edit('files/crds/ttlpolicies.lapse.dev.yaml', /(shortNames:\n +- )\w+/, '$1oldttlp');
  return directory;
}

const POLICY = {
  apiVersion: 'lapse.dev/v1alpha1',
  kind: 'TTLPolicy',
  metadata: { name: 'maps', namespace: 'default' },
  spec: { target: { apiVersion: 'v1', kind: 'ConfigMap' }, ttl: '720h', mode: 'DryRun' },
};
const WORKLOAD = [
  'deployment',
  'poddisruptionbudget',
  'networkpolicy',
  'configmap',
  'service',
  'serviceaccount',
];
const ACCESS = ['clusterrole', 'clusterrolebinding', 'role', 'rolebinding'];
const WEBHOOKS = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'];

const uidOf = async (kind: string, name: string, namespace?: string): Promise<string | undefined> =>
  (await objects.get(kind, name, namespace))?.metadata.uid;
const shortName = async (): Promise<string> => {
  const crd = (await objects.get('crd', 'ttlpolicies.lapse.dev')) as {
    spec?: { names: { shortNames: string[] } };
  };
  return crd.spec!.names.shortNames[0]!;
};
const bundles = async (): Promise<boolean[]> => {
  const found = await Promise.all(WEBHOOKS.map((kind) => objects.get(kind, 'lapse')));
  return found.flatMap((one) =>
    (one as unknown as { webhooks: { clientConfig: { caBundle?: string } }[] }).webhooks.map(
      ({ clientConfig }) => (clientConfig.caBundle ?? '') !== '',
    ),
  );
};

/** A foreign kind with the same name as a kind of a Lapse family. */
const FOREIGN = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'lvmvolumegroups.storage.deckhouse.io', labels: { vendor: 'somebody' } },
  spec: {
    group: 'storage.deckhouse.io',
    scope: 'Cluster',
    names: {
      kind: 'LVMVolumeGroup',
      plural: 'lvmvolumegroups',
      singular: 'lvmvolumegroup',
      listKind: 'LVMVolumeGroupList',
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

describe.each<HelmMajor>([3, 4])('Helm %i', (major) => {
  let helm: Helm;
  let lapse: LapseProcess;
  let older: string;
  const VALUES = ['--set', 'controllers={*,storage-pool}'];
  const install = (chart: string) =>
    helm.run('upgrade', '--install', 'lapse', chart, '-n', NAMESPACE, ...VALUES);

  beforeAll(async () => {
    helm = await helmFor(major, bed);
    older = olderChart(`older-${major}`);
    await objects.apply(
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: NAMESPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      },
      FOREIGN,
    );
  });

  test('installs, and does not change a foreign CRD', async () => {
    const before = await objects.get('crd', FOREIGN.metadata.name);
    const said = await install(CHART);
    expect(said).toContain('lvmvolumegroups.storage.deckhouse.io belongs to another owner');
    const after = await objects.get('crd', FOREIGN.metadata.name);
    expect(after?.metadata.uid).toBe(before?.metadata.uid);
    expect(after?.metadata.labels).toEqual({ vendor: 'somebody' });
    expect(await uidOf('crd', 'replicatedstoragepools.storage.deckhouse.io')).toBeDefined();
  });

  test('its process works with its account and configuration, admission reviews included', async () => {
    const outside = await runOutside(bed);
    lapse = outside.lapse;
    running.push(lapse);
    await lapse.says(/"serving admission reviews"/);
    await lapse.says(/"controller started".*"ttl-after-finished"/);
    await vi.waitFor(async () => expect(new Set(await bundles())).toEqual(new Set([true])), patient);
    const putBack = await outside.reachWebhooks();
    // The API server observes changed webhooks within about a second.
    await vi.waitFor(() => objects.apply(POLICY), patient);
    const policy = await objects.get('ttlpolicy', 'maps', 'default');
    expect(Object.keys(policy?.metadata.annotations ?? {})).toContain('lapse.dev/author');
    const refused = {
      ...POLICY,
      metadata: { name: 'bad', namespace: 'default' },
      spec: { ...POLICY.spec, ttl: 'soon' },
    };
    await expect(objects.apply(refused)).rejects.toThrow(/ttl/);
    await putBack();
    await finishedJob(bed, `report-${major}`);
    await vi.waitFor(
      async () => expect(await uidOf('job', `report-${major}`, 'default')).toBeUndefined(),
      patient,
    );
    expect(lapse.out.split('\n').filter((line) => /permissions are missing|[Ff]orbidden/.test(line))).toEqual(
      [],
    );
  });

  test('upgrade, downgrade, upgrade: objects are kept, CRDs follow the chart, certificates are still trusted', async () => {
    await objects.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'owned',
        namespace: 'default',
        ownerReferences: [
          {
            apiVersion: 'lapse.dev/v1alpha1',
            kind: 'TTLPolicy',
            name: 'maps',
            uid: await uidOf('ttlpolicy', 'maps', 'default'),
          },
        ],
      },
    });
    const policy = await uidOf('ttlpolicy', 'maps', 'default');
    const now = await shortName();
    for (const chart of [older, CHART, older, CHART]) {
      await install(chart);
      expect(await shortName()).toBe(chart === older ? 'oldttlp' : now);
      expect(await uidOf('ttlpolicy', 'maps', 'default')).toBe(policy);
      expect(await bundles(), chart).not.toContain(false);
      const image = JSON.stringify(await objects.get('deployment', 'lapse', NAMESPACE));
      expect(image.includes('lapse:0.0.9')).toBe(chart === older);
    }
    // A rollback is a downgrade.
    await helm.run('rollback', 'lapse', '-n', NAMESPACE);
    expect(await shortName()).toBe('oldttlp');
    await install(CHART);
    expect(await shortName()).toBe(now);
    expect((await objects.get('crd', FOREIGN.metadata.name))?.metadata.labels).toEqual({
      vendor: 'somebody',
    });
  });

  const before = 'chart' in previous ? 'the chart of the commit before' : `without: ${previous.none}`;
  test.skipIf('none' in previous)(`upgrade, downgrade, upgrade (${before})`, async () => {
    if ('none' in previous) return;
    const policy = await uidOf('ttlpolicy', 'maps', 'default');
    // Down to the version that users run now, up, and once more down and up.
    for (const chart of [previous.chart, CHART, previous.chart, CHART]) {
      await install(chart);
      expect(await uidOf('ttlpolicy', 'maps', 'default')).toBe(policy);
      expect(await bundles(), chart).not.toContain(false);
      expect(await objects.get('deployment', 'lapse', NAMESPACE)).toBeDefined();
    }
    expect((await objects.get('crd', FOREIGN.metadata.name))?.metadata.labels).toEqual({
      vendor: 'somebody',
    });
  });

  test('every Pod it would run passes the restricted profile', async () => {
    const deployment = (await objects.get('deployment', 'lapse', NAMESPACE)) as KubeObject & {
      spec: { template: { spec: { containers: object[] } } };
    };
    const pod = (spec: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `probe-${major}`, namespace: NAMESPACE },
      spec,
    });
    const { spec } = deployment.spec.template;
    const dryRun = async (body: object) => {
      const file = join(bed.directory, `pod-${process.hrtime.bigint()}.json`);
      writeFileSync(file, JSON.stringify(body));
      return bed.kubectl('create', '--dry-run=server', '-f', file);
    };
    expect(await dryRun(pod(spec))).toContain('created');
    const careless = { ...spec, containers: spec.containers.map((one) => ({ ...one, securityContext: {} })) };
    await expect(dryRun(pod(careless))).rejects.toThrow(/violates PodSecurity "restricted/);
  });

  test('uninstall deletes workloads, rights and webhooks; CRDs, objects and what they own are kept', async () => {
    const before = await Promise.all([
      uidOf('crd', 'ttlpolicies.lapse.dev'),
      uidOf('ttlpolicy', 'maps', 'default'),
      uidOf('configmap', 'owned', 'default'),
    ]);
    expect(before).not.toContain(undefined);
    expect((await objects.ofRelease(...WORKLOAD, ...ACCESS, ...WEBHOOKS)).length).toBeGreaterThan(15);
    await helm.run('uninstall', 'lapse', '-n', NAMESPACE);
    expect(await objects.ofRelease(...WORKLOAD, ...ACCESS, ...WEBHOOKS)).toEqual([]);
    await lapse.end();
    // Long enough for the garbage collector to have acted.
    await finishedJob(bed, `after-${major}`);
    await bed.kubectl('delete', 'job', `after-${major}`, '-n', 'default', '--wait', '--cascade=foreground');
    const after = await Promise.all([
      uidOf('crd', 'ttlpolicies.lapse.dev'),
      uidOf('ttlpolicy', 'maps', 'default'),
      uidOf('configmap', 'owned', 'default'),
    ]);
    expect(after).toEqual(before);
  });

  test('installed again, it adopts its CRDs', async () => {
    expect(await install(older)).not.toContain('ttlpolicies.lapse.dev was not installed');
    expect(await shortName()).toBe('oldttlp');
    await helm.run('uninstall', 'lapse', '-n', NAMESPACE);
    await bed.kubectl('delete', 'ttlpolicy', 'maps', '-n', 'default');
  });
});

test('the plain manifests can be applied as printed', async () => {
  const printed = new LapseProcess(['manifests']);
  expect(await printed.exited).toBe(0);
  const manifests = documentsOf(printed.out);
  await objects.apply(...manifests);
  expect((await objects.get('deployment', 'lapse', NAMESPACE))?.metadata.uid).toBeDefined();
});
