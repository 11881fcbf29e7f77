// The chart and the plain manifests are equivalent, and Helm reports no problem.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '@lapse/kube/api/object';
import { buildReadApi } from 'lapse/cli/checkpoint/apiService';
import { choicesOf } from 'lapse/cli/manifests/choices';
import { buildManifests, readInstallation } from 'lapse/cli/manifests/manifestsCommand';
import { FAMILIES } from 'lapse/controllers/registry';
import { readGeneral } from 'lapse/manager/configuration/general';
import { loadConfiguration } from 'lapse/manager/configuration/load';
import type { Rule } from 'lapse/manager/rbac';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Helm, type HelmMajor, helmFor } from '../helm/build.ts';
import { CHART, documentsOf, NAMESPACE } from './chartBed.ts';

const directory = mkdtempSync(join(tmpdir(), 'lapse-chart-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const FLAGS = {
  namespace: NAMESPACE,
  image: 'lapse:0.1.0',
  replicas: '2',
  controllers: '*',
  featureGates: '',
  actAs: 'author' as 'author' | 'controller',
};
const EVERYTHING = FAMILIES.map(({ name }) => name).join();

/**
 * The checksum of the configuration that both write into the Pod template. The texts differ, and so do the checksums.
 */
const checksumOf = (objects: readonly KubeObject[]): string => {
  const map = objects.find(({ kind }) => kind === 'ConfigMap') as
    | { data?: Record<string, string> }
    | undefined;
  const text = map?.data?.['lapse.yaml'] ?? '';
  return createHash('sha256').update(text.trimEnd()).digest('hex');
};

/**
 * Without the labels that only Helm adds, with the configuration parsed, and a correct checksum replaced by a constant.
 */
function plain(object: KubeObject, checksum: string): object {
  const copy = structuredClone(object) as KubeObject & {
    data?: Record<string, string>;
    spec?: { template?: KubeObject & { spec: { containers: Record<string, unknown>[] } } };
  };
  const labels = copy.metadata.labels ?? {};
  for (const label of ['helm.sh/chart', 'app.kubernetes.io/managed-by', 'app.kubernetes.io/version'])
    delete labels[label];
  const template = copy.kind === 'Deployment' ? copy.spec?.template : undefined;
  if (template !== undefined) {
    const { annotations = {} } = template.metadata;
    if (annotations['checksum/config'] === checksum) annotations['checksum/config'] = 'of the configuration';
    for (const container of template.spec.containers) delete container.imagePullPolicy;
  }
  const text = copy.data?.['lapse.yaml'];
  return text === undefined ? copy : { ...copy, data: parse(text) };
}

const byIdentity = (objects: readonly KubeObject[]) => {
  const checksum = checksumOf(objects);
  return new Map(
    objects.map((object) => [`${object.kind}/${object.metadata.name}`, plain(object, checksum)]),
  );
};

describe.each<HelmMajor>([3, 4])('Helm %i', (major) => {
  let helm: Helm;
  beforeAll(async () => {
    helm = await helmFor(major, { kubeconfig: join(directory, 'none'), directory });
  });
  const template = (...set: string[]) =>
    helm.run(
      'template',
      'lapse',
      CHART,
      '-n',
      NAMESPACE,
      '--kube-version',
      'v1.36.0',
      ...set.flatMap((one) => ['--set', one]),
    );

  test('passes helm lint without a warning', async () => {
    expect(await helm.run('lint', '--strict', CHART)).toContain('0 chart(s) failed');
  });

  test.each<[string, string[], Partial<typeof FLAGS>]>([
    ['as it comes', [], {}],
    [
      'everything on',
      [`controllers={${EVERYTHING}}`, 'featureGates.AllAlpha=true'],
      { controllers: EVERYTHING, featureGates: 'AllAlpha=true' },
    ],
    [
      'a default removed',
      ['controllers={*,-cleaner,storage-pool}'],
      { controllers: '*,-cleaner,storage-pool' },
    ],
    ['with actAs: controller', ['actAs=controller'], { actAs: 'controller' }],
    [
      'Jobs alone',
      ['controllers={ttl-after-finished}', 'replicas=1'],
      { controllers: 'ttl-after-finished', replicas: '1' },
    ],
    [
      'Pods alone',
      [
        'controllers={ttl-after-finished}',
        'featureGates.TTLAfterFinished=false',
        'featureGates.TTLAfterFinishedPods=true',
      ],
      { controllers: 'ttl-after-finished', featureGates: 'TTLAfterFinished=false,TTLAfterFinishedPods=true' },
    ],
  ])('%s, the chart is what lapse manifests prints', async (_what, values, flags) => {
    const rendered = documentsOf(await template(...values, 'crds.install=false'));
    const printed = buildManifests(readInstallation({ ...FLAGS, ...flags }));
    const expected = byIdentity(printed.filter(({ kind }) => kind !== 'Namespace'));
    expect(Object.fromEntries(byIdentity(rendered))).toEqual(Object.fromEntries(expected));
    expect(JSON.stringify(expected.get('Deployment/lapse'))).toContain('of the configuration');
  });

  test('accepts values of a parent chart, and a complete configuration', async () => {
    const config = [
      'config.deletions.perSecond=50',
      'config.cleaner.helm.hooks=skip',
      'config.log.format=text',
    ];
    const objects = documentsOf(await template('enabled=true', 'global.a=b', ...config));
    const map = objects.find(({ kind }) => kind === 'ConfigMap') as { data?: Record<string, string> };
    expect(parse(map.data!['lapse.yaml']!)).toMatchObject({
      deletions: { perSecond: 50 },
      cleaner: { helm: { hooks: 'skip' }, authorKeySecret: { namespace: NAMESPACE } },
      log: { format: 'text' },
    });
  });

  test('grants read and write access to the lease with the configured name', async () => {
    const rendered = documentsOf(await template('config.leaderElection.name=mine'));
    const role = rendered.find(({ kind }) => kind === 'Role') as unknown as { rules: Rule[] };
    const named = role.rules.filter(
      ({ resources, resourceNames }) => resources[0] === 'leases' && resourceNames,
    );
    expect(named.map(({ resourceNames, verbs }) => [resourceNames, verbs])).toEqual([
      [['mine'], ['get', 'update']],
    ]);
  });

  test('options of the configuration add the rights they need, and no others', async () => {
    const rulesOf = async (name: string, ...set: string[]) => {
      const rendered = documentsOf(await template(`controllers={${EVERYTHING}}`, ...set));
      const isIt = ({ kind, metadata }: KubeObject) =>
        kind === 'ClusterRole' && metadata.name === `lapse:${name}`;
      return (rendered.find(isIt) as unknown as { rules: Rule[] }).rules;
    };
    for (const family of FAMILIES) {
      const choices = choicesOf(family, FAMILIES);
      if (choices.length === 0) continue;
      const usual = await rulesOf(family.name);
      const set = choices.map(
        ({ section, field, value }) => `config.${section}.${field}=${value ?? '{configmaps,a.b.c}'}`,
      );
      const items = [
        ['configmaps', ''],
        ['a', 'b.c'],
      ];
      const added = choices.flatMap(({ value, rules }) =>
        value !== undefined
          ? rules
          : items.flatMap(([resource, group]) =>
              rules.map((rule) => ({ ...rule, resources: [resource!], apiGroups: [group!] })),
            ),
      );
      expect(await rulesOf(family.name, ...set)).toEqual([...usual, ...added]);
      expect(await rulesOf(family.name, 'config.requestTTL.mode=scanner')).toEqual(usual);
    }
  });

  test('installs the CRDs of the enabled families, and keeps them', async () => {
    const crds = (objects: KubeObject[]) => objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    const names = (objects: KubeObject[]) =>
      crds(objects)
        .map(({ metadata }) => metadata.name)
        .sort();
    const usual = documentsOf(await template());
    const own = FAMILIES.filter(({ defaultOn }) => defaultOn).flatMap(({ kinds }) =>
      kinds.map(({ crd }) => crd.metadata.name),
    );
    expect(names(usual)).toEqual([...new Set(own)].sort());
    for (const crd of crds(usual))
      expect(crd.metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
  });

  test('registers the read API when enabled, as in config/read-api', async () => {
    const on = ['controllers={*,manifest-capture}', 'readApi.enabled=true', 'crds.install=false'];
    const rendered = documentsOf(await template(...on));
    const selector = { 'app.kubernetes.io/name': 'lapse', 'app.kubernetes.io/instance': 'lapse' };
    const place = { name: 'lapse', namespace: NAMESPACE, selector, targetPort: 9444 };
    for (const wanted of buildReadApi(place)) {
      const { name } = wanted.metadata;
      const found = rendered.find((one) => one.kind === wanted.kind && one.metadata.name === name);
      expect({ ...found, metadata: undefined }).toEqual({ ...wanted, metadata: undefined });
      expect(found?.metadata.namespace).toBe(wanted.metadata.namespace);
    }
    const map = rendered.find(({ kind }) => kind === 'ConfigMap') as { data?: Record<string, string> };
    const file = { name: 'lapse.yaml', text: map.data!['lapse.yaml']! };
    const { api, webhook } = readGeneral(loadConfiguration(FAMILIES, { flags: {}, environment: {}, file }));
    expect(api.bindAddress).toBe(':9444');
    expect(webhook.hosts).toContain('lapse-api.lapse-system.svc');
  });

  test('creates the objects for monitoring and cert-manager when enabled', async () => {
    const values = ['serviceMonitor.enabled=true', 'prometheusRule.enabled=true', 'dashboard.enabled=true'];
    const objects = documentsOf(
      await template(...values, 'webhook.certManager.enabled=true', 'prometheusRule.lagSeconds=3'),
    );
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds).toEqual(
      expect.arrayContaining(['ServiceMonitor', 'PrometheusRule', 'Certificate', 'Issuer']),
    );
    const rules = JSON.stringify(objects.find(({ kind }) => kind === 'PrometheusRule'));
    expect(rules).toContain('> 3');
    expect(rules).not.toMatch(/LAG_SECONDS|NAMESPACE/);
    const deployment = JSON.stringify(objects.find(({ kind }) => kind === 'Deployment'));
    expect(deployment).toContain('lapse-webhook');
    // cert-manager writes the certificate. The process writes the path, and has no right to the certificate.
    const roles = JSON.stringify(objects.filter(({ kind }) => /Role$/.test(kind ?? '')));
    expect(roles).not.toContain('"lapse-webhook"');
    expect(roles).toMatch(/"lapse-webhook-path"/);
    expect(roles).toMatch(/mutatingwebhookconfigurations/);
  });

  test('requires client certificates of API servers if a ConfigMap contains their CA', async () => {
    const objects = documentsOf(
      await template('webhook.clientCA.configMap=api-server-ca', 'webhook.clientCA.names={kube-apiserver}'),
    );
    const map = objects.find(({ kind }) => kind === 'ConfigMap') as { data?: Record<string, string> };
    const file = { name: 'lapse.yaml', text: map.data!['lapse.yaml']! };
    const { webhook } = readGeneral(loadConfiguration(FAMILIES, { flags: {}, environment: {}, file }));
    expect(webhook).toMatchObject({
      clientCAFile: '/etc/lapse-client-ca/ca.crt',
      clientNames: ['kube-apiserver'],
    });
    const deployment = JSON.stringify(objects.find(({ kind }) => kind === 'Deployment'));
    expect(deployment).toContain('"configMap":{"name":"api-server-ca"}');
  });

  test.each([
    ['controllers={dance}', /"dance" is none of/],
    ['controllers={-cleaner}', /nothing is left to run/],
    ['config.controllers={cleaner}', /config.controllers: there is a value/],
    ['readApi.enabled=true', /needs manifest-capture/],
    ['actAs=root', /actAs/],
    ['replicas=-1', /replicas/],
    ['colour=red', /colour/],
    ['featureGates.Fly=true', /Fly/],
    ['config.colour=red', /colour/],
    ['config.deletions.perSekund=5', /perSekund/],
    ['config.deletions.perSecond=many', /perSecond/],
    ['config.cleaner.maxSleep=long', /maxSleep/],
  ])('%s is refused', async (value, message) => {
    await expect(template(value)).rejects.toThrow(message);
  });
});
