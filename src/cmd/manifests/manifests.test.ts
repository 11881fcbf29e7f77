import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#api/object';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { readGeneral } from '../configuration/general.ts';
import { loadConfiguration } from '../configuration/load.ts';
import { buildManifests, readInstallation } from '../manifests.ts';
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

// Families are put together once: that is what takes time.
const known = new Map<Family, FamilyNeeds>();
const needs = (family: Family): FamilyNeeds => {
  const found = known.get(family) ?? needsOf(family, FAMILIES);
  known.set(family, found);
  return found;
};
const built = (flags: Flags = {}) => buildManifests(readInstallation({ ...FLAGS, ...flags }, needs));
const find = (objects: readonly KubeObject[], kind: string, name = 'lapse') =>
  objects.find((one) => one.kind === kind && one.metadata.name === name) as
    | (KubeObject & { rules?: { resources: string[] }[]; data?: Record<string, string> })
    | undefined;
const names = (objects: readonly KubeObject[], kind: string) =>
  objects.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);

describe('which families, which rights', () => {
  test('storage families are off, and so are their rights', () => {
    expect(names(built(), 'ClusterRole')).toEqual([
      'lapse:process',
      'lapse:ttl-after-finished',
      'lapse:ttl-policy',
      'lapse:cleaner',
      'lapse:granted',
    ]);
  });

  test('switched on, they bring theirs', () => {
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

  test('a family whose gates are all closed has no role', () => {
    expect(names(built({ featureGates: 'TTLAfterFinished=false' }), 'ClusterRole')).not.toContain(
      'lapse:ttl-after-finished',
    );
  });

  test('nobody may do everything, and nobody may read all Secrets', () => {
    const objects = built({ controllers: FAMILIES.map(({ name }) => name).join() });
    const rules = objects.flatMap((object) => (object as { rules?: Record<string, string[]>[] }).rules ?? []);
    for (const rule of rules) {
      expect(JSON.stringify(rule)).not.toContain('"*"');
      if (rule.resources!.includes('secrets') && !rule.verbs!.includes('create'))
        expect(rule.resourceNames).toHaveLength(1);
    }
    expect(objects.filter(({ kind }) => kind === 'ClusterRole').length).toBeGreaterThan(5);
  });
});

describe('whose rights count', () => {
  test('acting as the controller there is no author to sign, and no key', () => {
    const objects = built({ actAs: 'controller' });
    expect(find(objects, 'MutatingWebhookConfiguration')).toBeUndefined();
    expect(find(objects, 'ValidatingWebhookConfiguration')).toBeDefined();
    expect(JSON.stringify(find(objects, 'Role'))).not.toContain('lapse-author-key');
    expect(JSON.stringify(find(objects, 'ClusterRole', 'lapse:process'))).not.toContain('mutatingwebhook');
  });

  test('without families that review anything there is no webhook and no right to its certificate', () => {
    const objects = built({ controllers: 'ttl-after-finished' });
    expect(names(objects, 'Service')).toEqual([]);
    expect(names(objects, 'ValidatingWebhookConfiguration')).toEqual([]);
    expect(JSON.stringify(find(objects, 'Role'))).not.toContain('secrets');
    expect(JSON.stringify(find(objects, 'Deployment'))).not.toContain('9443');
  });
});

test('the configuration is one that lapse run takes', () => {
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

test('one replica has nothing to keep from disruption', () => {
  expect(find(built({ replicas: '1' }), 'PodDisruptionBudget')).toBeUndefined();
});

test.each<[Flags, RegExp]>([
  [{ replicas: 'many' }, /--replicas must be a whole number/],
  [{ replicas: '-1' }, /--replicas must be a whole number/],
  [{ controllers: 'dance' }, /--controllers: "dance" is none of/],
  [{ controllers: '-cleaner' }, /leaves nothing to run/],
  [{ featureGates: 'Fly=true' }, /Fly/],
  [{ namespace: 'Not A Name' }, /namespace/],
])('%j is refused', (flags, message) => {
  expect(() => built(flags)).toThrow(message);
});
