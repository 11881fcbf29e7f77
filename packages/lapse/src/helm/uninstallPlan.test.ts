import { instant, minutes, plus } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { hasPolicy, hookObject, hooksFor } from './hooks.ts';
import { inUninstallOrder } from './order.ts';
import { isOwnedBy, ownershipOf } from './ownership.ts';
import { document, type ReleaseFixture, revision } from './release.testkit.ts';
import type { Hook } from './release.ts';
import { planUninstall } from './uninstallPlan.ts';

const annotated = (key: string, value: string) => `  annotations:\n    ${key}: ${value}\n`;

test('objects are deleted by kind, unknown kinds before CustomResourceDefinitions and by name, stable within a kind', () => {
  const kinds = [
    'Namespace',
    'Zebra',
    'Secret',
    'ConfigMap',
    'CustomResourceDefinition',
    'Apple',
    'Zebra',
    'Pod',
    'Deployment',
    'Service',
    'Ingress',
    'ValidatingWebhookConfiguration',
    'Role',
    'RoleBinding',
    'ServiceAccount',
    'PersistentVolumeClaim',
    'PriorityClass',
  ];
  const objects = kinds.map((kind, i) => ({
    apiVersion: 'v1',
    kind,
    namespace: '',
    name: `n${i}`,
    keep: false,
  }));
  expect(inUninstallOrder(objects).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'ValidatingWebhookConfiguration n11',
    'Ingress n10',
    'Service n9',
    'Deployment n8',
    'Pod n7',
    'RoleBinding n13',
    'Role n12',
    'Apple n5',
    'Zebra n1',
    'Zebra n6',
    'CustomResourceDefinition n4',
    'PersistentVolumeClaim n15',
    'ConfigMap n3',
    'Secret n2',
    'ServiceAccount n14',
    'Namespace n0',
    'PriorityClass n16',
  ]);
});

describe('ownership', () => {
  const release = { name: 'shop', namespace: 'default' };
  const object = (labels?: Record<string, string>, annotations?: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', ...(labels && { labels }), ...(annotations && { annotations }) },
  });
  const { labels, annotations } = ownershipOf(release);
  test.each<[string, boolean, ReturnType<typeof object>]>([
    ['with the metadata of Helm', true, object(labels, annotations)],
    ['without labels and annotations', false, object()],
    ['without the label', false, object({}, annotations)],
    [
      'managed by another tool',
      false,
      object({ ...labels, 'app.kubernetes.io/managed-by': 'me' }, annotations),
    ],
    ['of another release', false, object(labels, { ...annotations, 'meta.helm.sh/release-name': 'other' })],
    [
      'of a release with the same name in another namespace',
      false,
      object(labels, { ...annotations, 'meta.helm.sh/release-namespace': 'other' }),
    ],
  ])('%s: %j', (_, owned, live) => {
    expect(isOwnedBy(live, release)).toBe(owned);
  });
});

describe('hooks', () => {
  const hook = (more: Partial<Hook>): Hook => ({
    name: 'h',
    kind: 'Job',
    manifest: '',
    events: ['pre-delete'],
    weight: 0,
    deletePolicies: [],
    ...more,
  });
  test('of an event run by weight, then by name', async () => {
    const hooks = [
      hook({ name: 'b', weight: 5 }),
      hook({ name: 'c', weight: -1 }),
      hook({ name: 'a', weight: 5 }),
      hook({ name: 'x', events: ['test'] }),
    ];
    const release = { name: 'r', namespace: 'n', revision: 1, status: '', manifest: '', hooks };
    expect(hooksFor(release, 'pre-delete').map(({ name }) => name)).toEqual(['c', 'a', 'b']);
    expect(hooksFor(release, 'post-delete')).toEqual([]);
  });
  test('without a policy are deleted before creation; a CustomResourceDefinition never is', () => {
    expect(hasPolicy(hook({}), 'before-hook-creation')).toBe(true);
    expect(hasPolicy(hook({}), 'hook-succeeded')).toBe(false);
    expect(hasPolicy(hook({ deletePolicies: ['hook-succeeded'] }), 'before-hook-creation')).toBe(false);
    expect(hasPolicy(hook({ kind: 'CustomResourceDefinition' }), 'before-hook-creation')).toBe(false);
  });
  test('have exactly one object', () => {
    expect(hookObject(hook({ manifest: document('Job', 'a') }))).toMatchObject({ kind: 'Job' });
    expect(hookObject(hook({ manifest: document('Job', 'a') + document('Job', 'b') }))).toBeUndefined();
    expect(hookObject(hook({ manifest: '{' }))).toBeUndefined();
  });
});

describe('planUninstall', () => {
  const now = instant(Date.parse('2026-03-01T00:00:00Z'));
  const plan = async (...history: ReleaseFixture[]) =>
    planUninstall(
      history.map((given) => revision(given)),
      now,
    );
  const steps = async (...history: ReleaseFixture[]) => {
    const planned = await plan(...history);
    if (planned.kind !== 'uninstall') throw new Error(JSON.stringify(planned));
    return planned.steps;
  };

  test('returns absent without a history', async () => {
    expect(await plan()).toEqual({ kind: 'absent' });
  });

  test('uninstalls the newest revision and purges all, oldest first', async () => {
    const { revision, removals, purge } = await steps(
      { revision: 10, manifest: document('Pod', 'new') },
      { revision: 2, status: 'superseded', manifest: document('Pod', 'old') },
      { revision: 1, status: 'superseded' },
    );
    expect(revision).toBe(10);
    expect(removals.map(({ name }) => name)).toEqual(['new']);
    expect(purge.map(({ revision, uid }) => `${revision} ${uid}`)).toEqual([
      '1 uid-1',
      '2 uid-2',
      '10 uid-10',
    ]);
  });

  test('after a failed upgrade, deletes the objects of that revision and of the last complete one; the newest decides', async () => {
    const keep = annotated('helm.sh/resource-policy', 'keep');
    const { removals, kept } = await steps(
      { revision: 1, status: 'superseded', manifest: document('Pod', 'ancient') },
      { revision: 2, status: 'deployed', manifest: document('Pod', 'old') + document('Pod', 'both') },
      { revision: 3, status: 'failed', manifest: document('Pod', 'new') + document('Pod', 'both', keep) },
    );
    expect(removals.map(({ name }) => name)).toEqual(['new', 'old']);
    expect(kept.map(({ name }) => name)).toEqual(['both']);
  });

  test('treats an object in another API version, or with an explicit namespace, as the same object', async () => {
    const { removals } = await steps(
      {
        revision: 1,
        status: 'deployed',
        manifest: 'apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a, namespace: default}',
      },
      {
        revision: 2,
        status: 'failed',
        manifest: 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}',
      },
    );
    expect(removals).toHaveLength(1);
    expect(removals[0]!.apiVersion).toBe('apps/v1');
  });

  test('only purges a release that was uninstalled with its history kept', async () => {
    const { removals, purge } = await steps({ status: 'uninstalled', manifest: document('Pod', 'a') });
    expect(removals).toEqual([]);
    expect(purge).toHaveLength(1);
  });

  const ago = (length: number) => new Date(plus(now, minutes(-length))).toISOString();
  test.each<[string, ReleaseFixture, string]>([
    ['a fresh upgrade', { status: 'pending-upgrade', lastDeployed: ago(9) }, 'busy'],
    ['a fresh install', { status: 'pending-install', lastDeployed: ago(0) }, 'busy'],
    ['an upgrade exactly ten minutes old', { status: 'pending-upgrade', lastDeployed: ago(10) }, 'uninstall'],
    [
      'an upgrade that starts ten minutes in the future',
      { status: 'pending-upgrade', lastDeployed: ago(-10) },
      'busy',
    ],
    ['an upgrade that starts tomorrow', { status: 'pending-upgrade', lastDeployed: ago(-1440) }, 'uninstall'],
    ['an upgrade without a time', { status: 'pending-upgrade', lastDeployed: '' }, 'uninstall'],
    ['an interrupted uninstall', { status: 'uninstalling', lastDeployed: ago(1) }, 'uninstall'],
  ])('%s', async (_, given, expected) => {
    const planned = await plan(given);
    expect(planned.kind).toBe(expected);
    if (planned.kind === 'busy')
      expect(planned.until).toBe(plus(instant(Date.parse(given.lastDeployed!)), minutes(10)));
  });

  test('returns corrupt if the newest revision or its manifest cannot be read', async () => {
    const good = revision({ revision: 1, manifest: document('Pod', 'a') });
    const bad = {
      ...revision({ revision: 2 }),
      decoded: { kind: 'corrupt', why: 'forged' },
    } as const;
    expect(planUninstall([good, bad], now)).toEqual({ kind: 'corrupt', why: 'revision 2: forged' });
    expect(planUninstall([bad, { ...good, revision: 3 }], now).kind).toBe('uninstall');
    expect(await plan({ manifest: 'kind: [' })).toMatchObject({ kind: 'corrupt' });
  });

  const unreadable = (isOverLimit?: boolean) => ({
    ...revision({ revision: 1 }),
    decoded: {
      kind: 'corrupt',
      why: 'too large',
      ...(isOverLimit === undefined ? {} : { isOverLimit }),
    } as const,
  });
  test.each<[string, boolean | undefined, object]>([
    [
      'returns corrupt after a failed upgrade if the previous revision is over the limit and may be the deployed one',
      true,
      { kind: 'corrupt', why: 'revision 1: too large' },
    ],
    [
      'purges a corrupt revision before a failed upgrade like the others',
      undefined,
      {
        kind: 'uninstall',
        steps: { removals: [{ name: 'new' }], purge: [{ revision: 1 }, { revision: 2 }] },
      },
    ],
  ])('%s', (_, isOverLimit, expected) => {
    const failed = revision({ revision: 2, status: 'failed', manifest: document('Pod', 'new') });
    expect(planUninstall([unreadable(isOverLimit), failed], now)).toMatchObject(expected);
  });

  test('does not delete the objects of a deployed record with the same revision in the other driver', () => {
    const failed = revision({ revision: 2, status: 'failed', manifest: document('Pod', 'new') });
    const twin = revision(
      { revision: 2, status: 'deployed', manifest: document('Pod', 'twin') },
      'configmap',
    );
    for (const history of [
      [failed, twin],
      [twin, failed],
    ])
      expect(planUninstall(history, now)).toMatchObject({
        kind: 'uninstall',
        steps: { removals: [{ name: 'new' }], purge: [{ driver: 'configmap' }, { driver: 'secret' }] },
      });
  });

  test('does not delete excepted objects', async () => {
    const history = [revision({ manifest: document('Pod', 'a') + document('Cleaner', 'me') })];
    const planned = planUninstall(history, now, ({ kind }) => kind === 'Cleaner');
    expect(planned.kind === 'uninstall' && planned.steps.removals.map(({ name }) => name)).toEqual(['a']);
  });
});
