import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { seededRandom } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import { anonymous } from '@lapse/kube/client/credentials';
import type { Transport } from '@lapse/kube/client/transport';
import { describe, expect, test } from 'vitest';
import { type Document, parseAllDocuments } from 'yaml';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { assemble } from '#manager/assemble';
import { readGeneral } from '#manager/configuration/general';
import { loadConfiguration } from '#manager/configuration/load';
import type { Rule } from '#manager/rbac';
import { objectsText } from '../documents.ts';
import { buildManifests, readInstallation } from './manifestsCommand.ts';
import { type FamilyNeeds, needsOf } from './needs.ts';

const FLAGS = {
  namespace: 'lapse-system',
  image: 'lapse:1',
  replicas: '2',
  controllers: '*',
  featureGates: '',
  actAs: 'author',
} as const;
type Flags = Partial<Parameters<typeof readInstallation>[0]>;

// Families are assembled once, because that is slow.
const known = new Map<Family, FamilyNeeds>();
const needs = (family: Family): FamilyNeeds => {
  const found = known.get(family) ?? needsOf(family, FAMILIES);
  known.set(family, found);
  return found;
};
const built = (flags: Flags = {}) => buildManifests(readInstallation({ ...FLAGS, ...flags }, needs));
const find = (objects: readonly KubeObject[], kind: string, name = 'lapse') =>
  objects.find((one) => one.kind === kind && one.metadata.name === name) as
    | (KubeObject & { rules?: Rule[]; data?: Record<string, string> })
    | undefined;
const names = (objects: readonly KubeObject[], kind: string) =>
  objects.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);

const nobody = {} as Transport;
const configuration = (objects: readonly KubeObject[]): Record<string, unknown> =>
  parseAllDocuments(find(objects, 'ConfigMap')?.data?.['lapse.yaml'] ?? '')[0]?.toJS() ?? {};

describe('rights by family', () => {
  test('storage families are disabled by default and add no rights', () => {
    expect(names(built(), 'ClusterRole')).toEqual([
      'lapse:process',
      'lapse:ttl-after-finished',
      'lapse:ttl-policy',
      'lapse:cleaner',
      'lapse:granted',
    ]);
  });

  test('the default installation has no impersonate, no wildcard and no Secrets of other namespaces', () => {
    const rules = (kind: string) =>
      built()
        .filter((one) => one.kind === kind)
        .flatMap((one) => (one as { rules?: Rule[] }).rules ?? []);
    const all = [...rules('ClusterRole'), ...rules('Role')];
    expect(all.flatMap(({ verbs }) => verbs)).not.toContain('impersonate');
    expect(
      all.flatMap(({ verbs, resources, apiGroups }) => [...verbs, ...resources, ...apiGroups]),
    ).not.toContain('*');
    expect(rules('ClusterRole').flatMap(({ resources }) => resources)).not.toContain('secrets');
    expect(new Set(built().flatMap(({ metadata }) => metadata.namespace ?? []))).toEqual(
      new Set(['lapse-system']),
    );
  });

  test('impersonation in namespaces creates a Role in each of them and configures the process', () => {
    const objects = built({ impersonation: 'ci,preview' });
    const roles = objects.filter(({ metadata }) => metadata.name === 'lapse-impersonation');
    expect(roles.map(({ kind, metadata }) => `${kind} ${metadata.namespace}`)).toEqual([
      'Role ci',
      'RoleBinding ci',
      'Role preview',
      'RoleBinding preview',
    ]);
    expect(find(objects, 'Role', 'lapse-impersonation')?.rules).toEqual([
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
    ]);
    expect(names(objects, 'ClusterRole')).not.toContain('lapse:impersonation');
    const { cleaner, ttlPolicy } = configuration(objects);
    expect([cleaner, ttlPolicy]).toEqual([
      expect.objectContaining({ impersonation: { namespaces: ['ci', 'preview'] } }),
      expect.objectContaining({ impersonation: { namespaces: ['ci', 'preview'] } }),
    ]);
  });

  test.each<[string, Flags, string[]]>([
    ['impersonation in the cluster', { impersonation: 'cluster' }, ['serviceaccounts']],
    ['actAs impersonate-author', { actAs: 'impersonate-author' }, ['groups', 'serviceaccounts', 'users']],
  ])('%s creates a separate ClusterRole', (_, flags, resources) => {
    const rules = find(built(flags), 'ClusterRole', 'lapse:impersonation')?.rules ?? [];
    const core = rules.filter(({ apiGroups }) => apiGroups[0] === '');
    expect(core.flatMap((rule) => rule.resources)).toEqual(resources);
    expect(rules.flatMap(({ verbs }) => verbs).every((verb) => verb === 'impersonate')).toBe(true);
  });

  test('storage families add their rights when enabled', () => {
    const role = find(built({ controllers: '*,storage-pool' }), 'ClusterRole', 'lapse:storage-pool');
    expect(role?.rules?.flatMap(({ resources }) => resources)).toContain('replicatedstoragepools/status');
  });

  test.each([
    ['', ['jobs']],
    ['TTLAfterFinishedPods=true', ['jobs', 'pods']],
    ['AllAlpha=true', ['jobs', 'pods']],
    ['AllAlpha=true,TTLAfterFinishedPods=false', ['jobs']],
    ['TTLAfterFinished=false,TTLAfterFinishedPods=true', ['pods']],
  ])('gates %j: rights to %j', (featureGates, resources) => {
    const role = find(built({ featureGates }), 'ClusterRole', 'lapse:ttl-after-finished');
    expect(role?.rules?.flatMap((rule) => rule.resources)).toEqual(resources);
  });

  test.each([
    ['', []],
    [
      'TTLAfterFinishedPods=true',
      ['lapse-pod-ttl-in-jobs', 'lapse-pod-ttl-in-cronjobs', 'lapse-pod-ttl-in-workloads', 'lapse-pod-ttl'],
    ],
    ['AllAlpha=true,TTLAfterFinishedPods=false', []],
  ])('gates %j: admission policies %j, each with a binding', (featureGates, policies) => {
    const objects = built({ featureGates });
    expect(names(objects, 'ValidatingAdmissionPolicy')).toEqual(policies);
    const bindings = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicyBinding');
    expect(bindings.map(({ spec }) => (spec as { policyName?: string }).policyName)).toEqual(policies);
  });

  test('a family whose gates are all disabled has no role', () => {
    expect(names(built({ featureGates: 'TTLAfterFinished=false' }), 'ClusterRole')).not.toContain(
      'lapse:ttl-after-finished',
    );
  });

  test('no role allows everything, and only the role of the own namespace allows Secrets', () => {
    const objects = built({ controllers: FAMILIES.map(({ name }) => name).join() });
    const rulesOf = (object: KubeObject) => (object as { rules?: Record<string, string[]>[] }).rules ?? [];
    for (const rule of objects.flatMap(rulesOf)) expect(JSON.stringify(rule)).not.toContain('"*"');
    const withSecrets = objects.filter((object) =>
      rulesOf(object).some(({ resources = [] }) => resources.includes('secrets')),
    );
    expect(withSecrets.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual(
      ['Role lapse-system/lapse'],
    );
    expect(objects.filter(({ kind }) => kind === 'ClusterRole').length).toBeGreaterThan(5);
  });
});

describe('actAs', () => {
  test('with actAs controller no author is signed, and the key only authenticates decision records', () => {
    const objects = built({ actAs: 'controller' });
    expect(find(objects, 'MutatingWebhookConfiguration')).toBeUndefined();
    expect(find(objects, 'ValidatingWebhookConfiguration')).toBeDefined();
    expect(JSON.stringify(find(objects, 'Role'))).toContain('lapse-author-key');
    expect(JSON.stringify(find(objects, 'ClusterRole', 'lapse:process'))).not.toContain('mutatingwebhook');
  });

  test('without families that have admission functions there is no webhook and no right to its certificate', () => {
    const objects = built({ controllers: 'ttl-after-finished' });
    expect(names(objects, 'Service')).toEqual([]);
    expect(names(objects, 'ValidatingWebhookConfiguration')).toEqual([]);
    expect(JSON.stringify(find(objects, 'Role'))).not.toContain('secrets');
    expect(JSON.stringify(find(objects, 'Deployment'))).not.toContain('9443');
  });
});

test('lapse run accepts the configuration', () => {
  const { data } = find(built({ dryRun: true, featureGates: 'TTLAfterFinishedPods=true' }), 'ConfigMap')!;
  const file = { name: 'lapse.yaml', text: data!['lapse.yaml']! };
  const general = readGeneral(loadConfiguration(FAMILIES, { flags: {}, environment: {}, file }));
  expect(general).toMatchObject({
    dryRun: true,
    controllers: ['*'],
    featureGates: { TTLAfterFinishedPods: true },
    webhook: { bindAddress: ':9443', secret: 'lapse-webhook', hosts: ['lapse-webhook.lapse-system.svc'] },
  });
});

test.each<[string, Flags]>([
  ['dryRun', { dryRun: true }],
  ['actAs', { actAs: 'controller' }],
  ['controllers', { controllers: '*,-cleaner' }],
  ['featureGates', { featureGates: 'TTLAfterFinishedPods=true' }],
])('another configuration (%s) changes the Pod template, so that the Pods are replaced', (_, flags) => {
  const template = (objects: KubeObject[]) =>
    (find(objects, 'Deployment') as { spec?: { template: object } }).spec;
  expect(template(built(flags))).not.toEqual(template(built()));
  expect(template(built(flags))).toEqual(template(built(flags)));
});

test('the Role names the lease that the process uses, with and without dry run', () => {
  for (const dryRun of [false, true]) {
    const objects = built({ dryRun });
    const file = { name: 'lapse.yaml', text: find(objects, 'ConfigMap')!.data!['lapse.yaml']! };
    const document = loadConfiguration(FAMILIES, { flags: {}, environment: {}, file });
    const { lease } = assemble({
      connection: {
        transport: nobody,
        leaseTransport: nobody,
        credentials: anonymous,
        namespace: 'lapse-system',
      },
      general: readGeneral(document),
      document,
      known: FAMILIES,
      selected: [],
      clock: realClock,
      random: seededRandom(1),
      log: silentLog,
      identity: 'one',
    });
    const rules = find(objects, 'Role')!.rules!.filter(({ resources }) => resources.includes('leases'));
    expect(rules).toEqual([
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      expect.objectContaining({
        resourceNames: expect.arrayContaining([lease!.name]),
        verbs: ['get', 'update'],
      }),
    ]);
  }
});

test.each<[string, Flags, string[]]>([
  ['prints the default namespace lapse-system', {}, ['lapse-system']],
  ['omits a namespace that may be shared', { namespace: 'monitoring' }, []],
  [
    'prints a shared namespace on request',
    { namespace: 'monitoring', createNamespace: true },
    ['monitoring'],
  ],
])('%s', (_, flags, expected) => {
  const objects = built(flags);
  expect(names(objects, 'Namespace')).toEqual(expected);
  expect(find(objects, 'Deployment')?.metadata.namespace).toBe(flags.namespace ?? 'lapse-system');
});

test('names that YAML 1.1 would read as other types are quoted', () => {
  const objects = built({ namespace: 'on', createNamespace: true });
  const read = parseAllDocuments(objectsText(objects, 'yaml'), { version: '1.1' }) as Document[];
  expect(read.map((document) => document.toJS())).toEqual(objects);
});

test('a single replica has no PodDisruptionBudget', () => {
  expect(find(built({ replicas: '1' }), 'PodDisruptionBudget')).toBeUndefined();
});

test.each<[Flags, RegExp]>([
  [{ replicas: 'many' }, /--replicas must be a whole number/],
  [{ replicas: '-1' }, /--replicas must be a whole number/],
  [{ replicas: '' }, /--replicas must be a whole number/],
  [{ replicas: '0x10' }, /--replicas must be a whole number/],
  [{ image: '' }, /--image must be an image/],
  [{ image: 'two words' }, /--image must be an image/],
  [{ controllers: 'dance' }, /--controllers: "dance" is none of/],
  [{ controllers: '-cleaner' }, /selects no controller/],
  [{ featureGates: 'Fly=true' }, /Fly/],
  [{ namespace: 'Not A Name' }, /namespace/],
])('%j is refused', (flags, message) => {
  expect(() => built(flags)).toThrow(message);
});
