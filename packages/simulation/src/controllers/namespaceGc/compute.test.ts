import { formatTime, type Instant, instant } from '@lapse/base/instant';
import type { Condition, Namespace, Pod } from '@lapse/kube/api/kinds/builtin';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { describe, expect, test } from 'vitest';
import {
  computeConditions,
  computeContentKinds,
  computeNamespaceStep,
  computePodEstimate,
  computeRemains,
  type Findings,
} from './compute.ts';

const at = (seconds: number): Instant => instant(Date.UTC(2030, 0, 1) + seconds * 1000);
const time = (seconds: number): string => formatTime(at(seconds));

describe('computeNamespaceStep', () => {
  const namespace = (deleted: boolean, finalizers = ['kubernetes']): Namespace => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n', ...(deleted ? { deletionTimestamp: time(0) } : {}) },
    spec: { finalizers },
  });
  test.each<[string, Namespace, number, object]>([
    ['does nothing for an active namespace', namespace(false), 100, { kind: 'nothing' }],
    ['does nothing for a finalized namespace', namespace(true, []), 100, { kind: 'nothing' }],
    ['a millisecond early, not yet', namespace(true), 4.999, { kind: 'wait', until: at(5) }],
    [
      'deletes the content five seconds after the deletion',
      namespace(true),
      5,
      { kind: 'empty', since: at(0) },
    ],
    [
      'deletes the content if only other finalizers are left',
      namespace(true, ['x.dev/y']),
      5,
      { kind: 'empty', since: at(0) },
    ],
  ])('%s', (_, object, now, step) => expect(computeNamespaceStep(object, at(now))).toEqual(step));
});

describe('computeContentKinds', () => {
  const served = (id: string, verbs: string, namespaced = true): ServedKind => {
    const [group = '', version = '', resource = ''] = id.split('/');
    const names = { kind: resource, singular: '', shortNames: [], categories: [], subresources: [] };
    return { group, version, resource, namespaced, verbs: verbs.split(' '), ...names };
  };
  test('returns deletable namespaced kinds once each, Pods first', () =>
    expect(
      computeContentKinds([
        served('/v1/configmaps', 'delete deletecollection list'),
        served('/v1/bindings', 'create'),
        served('/v1/nodes', 'delete', false),
        served('x.dev/v2/things', 'delete list'),
        served('x.dev/v1/things', 'delete list'),
        served('/v1/pods', 'delete deletecollection list'),
        served('metrics.k8s.io/v1beta1/pods', 'get list'),
      ]).map((k) => `${k.group}/${k.version}/${k.resource} ${k.canDeleteCollection}`),
    ).toEqual(['/v1/pods true', '/v1/configmaps true', 'x.dev/v2/things false']));
});

describe('computePodEstimate', () => {
  const pod = (grace: number | undefined, phase = 'Running'): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: grace === undefined ? {} : { terminationGracePeriodSeconds: grace },
    status: { phase },
  });
  test.each<[string, Pod[], number, number]>([
    ['is 0 without Pods', [], 0, 0],
    ['is the time of the slowest Pod', [pod(30), pod(60), pod(undefined)], 59.999, 60],
    ['is 0 after the grace period', [pod(30), pod(60)], 60, 0],
    ['ignores finished Pods', [pod(30, 'Succeeded'), pod(60, 'Failed')], 0, 0],
  ])('%s', (_, pods, now, estimate) => expect(computePodEstimate(pods, at(0), at(now))).toBe(estimate));
});

const kind = { group: 'apps', version: 'v1', kind: 'Deployment', resource: 'deployments', namespaced: true };
const items = (...finalizers: string[][]) => finalizers.map((f) => ({ metadata: { finalizers: f } }));

describe('remaining content of a kind', () => {
  const where = { namespace: 'n', estimate: 0 };
  test.each<[string, { metadata: { finalizers: string[] } }[], number, object]>([
    ['is empty without objects', [], 30, { count: 0, estimate: 0 }],
    ['estimates 15 s for objects with finalizers', items(['a', 'b'], ['a']), 0, { count: 2, estimate: 15 }],
    ['uses the estimate of the grace period', items([]), 30, { count: 1, estimate: 30 }],
    [
      'reports a problem for objects without finalizers',
      items([], []),
      0,
      {
        count: 2,
        estimate: 0,
        problem: 'unexpected items still remain in namespace: n for gvr: apps/v1, Resource=deployments',
      },
    ],
  ])('%s', (_, left, estimate, remains) =>
    expect(computeRemains(kind, left, { ...where, estimate })).toMatchObject(remains),
  );
});

describe('computeConditions', () => {
  const none: Findings = { problems: [], remains: [] };
  const well = computeConditions([], none, at(0))!;
  const find = (conditions: readonly Condition[] | undefined, type: string) =>
    conditions?.find((c) => c.type === type);

  test('sets five conditions to False without problems', () =>
    expect(well.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).toEqual([
      'NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered',
      'NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions',
      'NamespaceDeletionContentFailure=False ContentDeleted',
      'NamespaceContentRemaining=False ContentRemoved',
      'NamespaceFinalizersRemaining=False ContentHasNoFinalizers',
    ]));
  test('returns undefined if the conditions are already set', () =>
    expect(computeConditions(well, none, at(9))).toBeUndefined());
  test('keeps conditions of other types', () =>
    expect(find(computeConditions([{ type: 'X', status: 'True' }], none, at(0)), 'X')?.status).toBe('True'));
  test('reports a group whose discovery fails', () =>
    expect(
      find(
        computeConditions(well, { ...none, discovery: 'why' }, at(9)),
        'NamespaceDeletionDiscoveryFailure',
      ),
    ).toEqual({
      type: 'NamespaceDeletionDiscoveryFailure',
      status: 'True',
      lastTransitionTime: time(9),
      reason: 'DiscoveryFailed',
      message: 'why',
    }));
  test('reports failed deletions in sorted order', () =>
    expect(
      find(
        computeConditions(well, { ...none, problems: ['z', 'a'] }, at(9)),
        'NamespaceDeletionContentFailure',
      )?.message,
    ).toBe('Failed to delete all resource types, 2 remaining: a, z'));

  const remains = [
    computeRemains(kind, items(['x.dev/b'], ['x.dev/a', 'x.dev/b']), { namespace: 'n', estimate: 0 }),
    computeRemains({ ...kind, group: '', resource: 'configmaps' }, items(['x.dev/a']), {
      namespace: 'n',
      estimate: 0,
    }),
  ];
  const left = computeConditions(well, { problems: [], remains }, at(9))!;
  test('reports the remaining objects and their finalizers', () =>
    expect([
      find(left, 'NamespaceContentRemaining')?.message,
      find(left, 'NamespaceFinalizersRemaining')?.message,
    ]).toEqual([
      'Some resources are remaining: configmaps. has 1 resource instances, deployments.apps has 2 resource instances',
      'Some content in the namespace has finalizers remaining: x.dev/a in 2 resource instances, x.dev/b in 2 resource instances',
    ]));
  test('keeps lastTransitionTime if only the counts change', () => {
    const fewer = computeConditions(left, { problems: [], remains: remains.slice(1) }, at(20));
    expect(find(fewer, 'NamespaceContentRemaining')).toMatchObject({
      lastTransitionTime: time(9),
      message: 'Some resources are remaining: configmaps. has 1 resource instances',
    });
  });
});
