// The chart's objects for the Prometheus Operator and cert-manager on a real API server with their CRDs: accepted
// unchanged by strict validation, with both Helm versions.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '@lapse/kube/api/object';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { type Bed, startBed } from '../bed/bed.ts';
import { type Helm, type HelmMajor, helmFor } from '../helm/build.ts';
import { CHART, documentsOf, NAMESPACE, type Objects, objectsOf } from './chartBed.ts';
import { NEIGHBOUR_KINDS, NEIGHBOURS } from './neighbours.ts';

let bed: Bed;
let objects: Objects;
beforeAll(async () => {
  bed = await startBed();
  objects = objectsOf(bed);
  await objects.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, ...NEIGHBOURS);
  for (const { metadata } of NEIGHBOURS)
    await bed.kubectl('wait', '--for=condition=Established', `crd/${metadata.name}`);
});
afterAll(() => bed?.stop());

const MONITORED = ['serviceMonitor.enabled=true', 'prometheusRule.enabled=true', 'dashboard.enabled=true'];
const CERTIFIED = ['webhook.certManager.enabled=true'];
const CASES: [string, string[]][] = [
  ['all of their objects', [...MONITORED, ...CERTIFIED]],
  [
    'with labels and an issuer of the operator',
    [
      ...MONITORED,
      ...CERTIFIED,
      'serviceMonitor.labels.release=prometheus',
      'serviceMonitor.interval=1m30s',
      'prometheusRule.lagSeconds=3',
      'webhook.certManager.issuerRef.kind=ClusterIssuer',
      'webhook.certManager.issuerRef.name=own',
    ],
  ],
  [
    'and a certificate for the read API',
    [...MONITORED, ...CERTIFIED, 'controllers={*,manifest-capture}', 'readApi.enabled=true'],
  ],
];
const flagsOf = (set: readonly string[]) => set.flatMap((one) => ['--set', one]);

/** Throws the error of strict validation. */
async function validated(object: object): Promise<void> {
  const file = join(bed.directory, 'strict.yaml');
  writeFileSync(file, stringify(object));
  await bed.kubectl('apply', '--server-side', '--force-conflicts', '--validate=strict', '-f', file);
}

describe.each<HelmMajor>([3, 4])('Helm %i', (major) => {
  let helm: Helm;
  beforeAll(async () => {
    helm = await helmFor(major, bed);
  });
  const theirs = async (set: readonly string[]): Promise<KubeObject[]> => {
    const version = ['--kube-version', 'v1.36.0'];
    const text = await helm.run('template', 'lapse', CHART, '-n', NAMESPACE, ...version, ...flagsOf(set));
    return documentsOf(text).filter(({ kind }) => NEIGHBOUR_KINDS.includes(kind));
  };

  test.each(CASES)('%s: accepted as written', async (_, set) => {
    const rendered = await theirs(set);
    expect(rendered.length).toBeGreaterThanOrEqual(3);
    for (const object of rendered) {
      await validated(object);
      const { kind, metadata, spec } = object;
      expect((await objects.get(kind, metadata.name!, NAMESPACE))?.spec).toEqual(spec);
      await bed.kubectl('delete', kind, metadata.name!, '-n', NAMESPACE);
    }
  });

  test('an unknown field is refused', async () => {
    for (const object of await theirs([...MONITORED, ...CERTIFIED])) {
      const spec = { ...(object.spec as object), wordOfNobody: true };
      await expect(validated({ ...object, spec })).rejects.toThrow(
        /spec.wordOfNobody: field not declared in schema/,
      );
    }
  });

  test('installed and removed with the release', async () => {
    const set = flagsOf([...MONITORED, ...CERTIFIED]);
    await helm.run('upgrade', '--install', 'lapse', CHART, '-n', NAMESPACE, ...set);
    const kinds = NEIGHBOUR_KINDS.map((kind) => kind.toLowerCase());
    const made = await objects.ofRelease(...kinds);
    expect(made.map((name) => name.split('.')[0])).toEqual([...kinds].sort());
    await helm.run('uninstall', 'lapse', '-n', NAMESPACE);
    await vi.waitFor(async () => expect(await objects.ofRelease(...kinds)).toEqual([]), {
      timeout: 30_000,
      interval: 200,
    });
  });
});
