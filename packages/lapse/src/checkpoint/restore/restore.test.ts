// Which objects come back, where, in which order, and what changes: the pure half of a restore.

import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { diffObjects } from './diff.ts';
import { mentionsOf, moveObject } from './namespace.ts';
import { orderForRestore } from './order.ts';
import { CapturedIndex, computeSkip, type SkipOptions } from './skip.ts';

const make = (type: string, name: string, rest: object = {}, metadata: object = {}): KubeObject => {
  const [apiVersion, kind] = type.split(' ') as [string, string];
  return { apiVersion, kind, metadata: { name, namespace: 'shop', ...metadata }, ...rest };
};
const controlledBy = (kind: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});
const ended = (type: string) => ({ status: { conditions: [{ type, status: 'True' }] } });

describe('what does not come back', () => {
  const captured = new CapturedIndex();
  for (const object of [
    make('apps/v1 Deployment', 'web', {}, { uid: 'deploy' }),
    make('apps/v1 ReplicaSet', 'web-abc', {}, { uid: 'rs' }),
    make('v1 Service', 'web', { spec: { selector: { app: 'web' } } }),
    make('v1 Service', 'manual', { spec: {} }),
    make('v1 Pod', 'own', {}, { uid: 'pod' }),
  ])
    captured.add(object);

  const rows: Record<string, readonly [KubeObject, RegExp | undefined, SkipOptions?]> = {
    'a ConfigMap comes back': [make('v1 ConfigMap', 'a'), undefined],
    'a Secret comes back': [make('v1 Secret', 'a', { type: 'Opaque' }), undefined],
    'a token does not': [make('v1 Secret', 'a', { type: 'kubernetes.io/service-account-token' }), /new one/],
    'nor a Secret whose values were left out': [
      make('v1 Secret', 'a', {}, { annotations: { 'state-snapshotter.deckhouse.io/redacted': 'true' } }),
      /left out/,
    ],
    'nor the authority every namespace has': [make('v1 ConfigMap', 'kube-root-ca.crt'), /its own/],
    'a ReplicaSet of a captured Deployment is made again': [
      make('apps/v1 ReplicaSet', 'web-abc', {}, controlledBy('Deployment', 'web', 'deploy')),
      /^Deployment web makes it again$/,
    ],
    'one whose Deployment was not captured comes back': [
      make('apps/v1 ReplicaSet', 'x-1', {}, controlledBy('Deployment', 'x', 'other')),
      undefined,
    ],
    'a Pod of a captured ReplicaSet is made again': [
      make('v1 Pod', 'p', {}, controlledBy('ReplicaSet', 'web-abc', 'rs')),
      /makes it again/,
    ],
    'and one of a ReplicaSet that was not, between it and a captured Deployment': [
      make(
        'v1 Pod',
        'p',
        {},
        {
          ...controlledBy('ReplicaSet', 'web-def', 'unknown'),
          labels: { 'pod-template-hash': 'def' },
        },
      ),
      /^Deployment web makes it again$/,
    ],
    'a Pod nobody controls comes back': [make('v1 Pod', 'p'), undefined],
    'an owner that is no controller makes nothing': [
      make(
        'v1 Pod',
        'p',
        {},
        { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'own', uid: 'pod' }] },
      ),
      undefined,
    ],
    'a claim that a Pod brings along is made again': [
      make('v1 PersistentVolumeClaim', 'own-scratch', {}, controlledBy('Pod', 'own', 'pod')),
      /Pod own makes it again/,
    ],
    'a Secret that an operator made comes back: what is in it may exist nowhere else': [
      make('v1 Secret', 'a', {}, controlledBy('Deployment', 'web', 'deploy')),
      undefined,
    ],
    'Endpoints of a Service that selects are found again': [make('v1 Endpoints', 'web'), /finds/],
    'those somebody wrote by hand come back': [make('v1 Endpoints', 'manual'), undefined],
    'an EndpointSlice of the controller is found again': [
      make(
        'discovery.k8s.io/v1 EndpointSlice',
        'web-x',
        {},
        {
          labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
        },
      ),
      /finds/,
    ],
    'one written by hand comes back': [make('discovery.k8s.io/v1 EndpointSlice', 'x'), undefined],
    'an Event has happened': [make('events.k8s.io/v1 Event', 'x'), /not applied/],
    'a Lease belongs to its holder': [make('coordination.k8s.io/v1 Lease', 'x'), /holds/],
    'a request is not made twice': [
      make('storage.deckhouse.io/v1alpha1 VolumeCaptureRequest', 'x'),
      /carried out once/,
    ],
    'a snapshot is not taken twice': [make('snapshot.storage.k8s.io/v1 VolumeSnapshot', 'x'), /another/],
    'a finished Job would run again': [make('batch/v1 Job', 'x', ended('Complete')), /--include-finished/],
    'a failed one too': [make('batch/v1 Job', 'x', ended('Failed')), /--include-finished/],
    'unless that is wanted': [
      make('batch/v1 Job', 'x', ended('Complete')),
      undefined,
      { includeFinished: true },
    ],
    'a Job that is suspended has not ended': [make('batch/v1 Job', 'x', ended('Suspended')), undefined],
    'a Pod that has ended would run again': [
      make('v1 Pod', 'x', { status: { phase: 'Succeeded' } }),
      /again/,
    ],
    'a running Pod comes back': [make('v1 Pod', 'x', { status: { phase: 'Running' } }), undefined],
    'fields of any shape decide nothing': [
      make('batch/v1 Job', 'x', { status: { conditions: 'odd' } }, { ownerReferences: 7 }),
      undefined,
    ],
    'nor do names of prototypes': [make('v1 constructor', 'x'), undefined],
  };
  test.each(Object.entries(rows))('%s', (_, [object, expected, options]) => {
    const because = computeSkip(object, captured, options);
    if (expected === undefined) expect(because).toBeUndefined();
    else expect(because).toMatch(expected);
  });
});

describe('another namespace', () => {
  const move = { from: 'shop', to: 'copy' };

  test('the object and the accounts of a RoleBinding move along', () => {
    const binding = make('rbac.authorization.k8s.io/v1 RoleBinding', 'b', {
      subjects: [
        { kind: 'ServiceAccount', name: 'a', namespace: 'shop' },
        { kind: 'ServiceAccount', name: 'a', namespace: 'other' },
        { kind: 'Group', name: 'system:serviceaccounts:shop' },
        { kind: 'User', name: 'shop' },
        7,
      ],
    });
    const moved = moveObject(binding, move);
    expect(moved.metadata.namespace).toBe('copy');
    expect(moved.subjects).toEqual([
      { kind: 'ServiceAccount', name: 'a', namespace: 'copy' },
      { kind: 'ServiceAccount', name: 'a', namespace: 'other' },
      { kind: 'Group', name: 'system:serviceaccounts:copy' },
      { kind: 'User', name: 'shop' },
      7,
    ]);
    expect(binding.metadata.namespace).toBe('shop');
  });

  test('a Namespace becomes the other one', () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', labels: { team: 'a' } },
    };
    expect(moveObject(namespace, move).metadata).toEqual({ name: 'copy', labels: { team: 'a' } });
  });

  test('what still speaks of the old one is named, and nothing that only looks like it', () => {
    const object = make('v1 ConfigMap', 'a', {
      data: { url: 'http://db.shop.svc:5432', other: 'http://db.workshop.svc', plain: 'shop' },
      spec: { ref: [{ namespace: 'shop' }, { namespace: 'shopping' }] },
    });
    expect(mentionsOf(moveObject(object, move), 'shop')).toEqual(['data.url', 'spec.ref[0].namespace']);
  });
});

test('config before what runs, custom resources after it, quotas last, equals as they were', () => {
  const types = [
    'v1 ResourceQuota',
    'example.com/v1 Thing',
    'apps/v1 Deployment',
    'v1 ConfigMap',
    'v1 Namespace',
    'v1 PersistentVolumeClaim',
    'example.com/v1 Another',
    'serving.knative.dev/v1 Service',
    'v1 Service',
    'v1 Secret',
  ];
  const objects = types.map((type) => make(type, 'x'));
  expect(
    orderForRestore(objects, (one) => one).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
  ).toEqual([
    'v1 Namespace',
    'v1 Secret',
    'v1 ConfigMap',
    'v1 PersistentVolumeClaim',
    'v1 Service',
    'apps/v1 Deployment',
    'example.com/v1 Thing',
    'example.com/v1 Another',
    'serving.knative.dev/v1 Service',
    'v1 ResourceQuota',
  ]);
});

describe('differences', () => {
  const rows: Record<string, readonly [KubeObject, KubeObject, object[]]> = {
    'bookkeeping and status are no difference': [
      make('v1 ConfigMap', 'a', { status: 1 }, { resourceVersion: '1', generation: 1, managedFields: [] }),
      make('v1 ConfigMap', 'a', { status: 2 }, { resourceVersion: '2', generation: 2, managedFields: [{}] }),
      [],
    ],
    'values, by path': [
      make('v1 ConfigMap', 'a', { data: { x: '1', gone: 'y', 'a.b': 'old' } }),
      make('v1 ConfigMap', 'a', { data: { x: '2', here: 'z', 'a.b': 'new' } }),
      [
        { path: 'data["a.b"]', before: '"old"', after: '"new"' },
        { path: 'data.gone', before: '"y"' },
        { path: 'data.here', after: '"z"' },
        { path: 'data.x', before: '"1"', after: '"2"' },
      ],
    ],
    'containers by name, others by place': [
      make('v1 Pod', 'a', { spec: { containers: [{ name: 'a', image: '1' }, { name: 'b' }], args: ['x'] } }),
      make('v1 Pod', 'a', {
        spec: { containers: [{ name: 'a', image: '2' }, { name: 'b' }], args: ['y', 'z'] },
      }),
      [
        { path: 'spec.args[0]', before: '"x"', after: '"y"' },
        { path: 'spec.args[1]', after: '"z"' },
        { path: 'spec.containers[a].image', before: '"1"', after: '"2"' },
      ],
    ],
    'another order is a difference': [
      make('v1 Pod', 'a', { spec: { initContainers: [{ name: 'a' }, { name: 'b' }] } }),
      make('v1 Pod', 'a', { spec: { initContainers: [{ name: 'b' }, { name: 'a' }] } }),
      [{ path: 'spec.initContainers', before: '["a","b"]', after: '["b","a"]' }],
    ],
    'what is in a Secret is not shown': [
      make('v1 Secret', 'a', { data: { key: 'aHVudGVyMg==' } }),
      make('v1 Secret', 'a', { data: { key: 'c3dvcmRmaXNo', new: 'eA==' }, type: 'Opaque' }),
      [
        { path: 'data.key', before: '(hidden, 12 characters)', after: '(hidden, 12 characters)' },
        { path: 'data.new', after: '(hidden, 4 characters)' },
        { path: 'type', after: '"Opaque"' },
      ],
    ],
    'nor is a whole map of it': [
      make('v1 Secret', 'a', { data: { key: 'aHVudGVyMg==' } }),
      make('v1 Secret', 'a'),
      [{ path: 'data', before: '(hidden)' }],
    ],
    'nor a key of it with dots': [
      make('v1 Secret', 'a', { data: { 'tls.key': 'aaaa' } }),
      make('v1 Secret', 'a', { data: { 'tls.key': 'bbbb' } }),
      [{ path: 'data["tls.key"]', before: '(hidden, 4 characters)', after: '(hidden, 4 characters)' }],
    ],
    'numbers beyond 2^53 differ in their last digit': [
      make('v1 ConfigMap', 'a', { n: 2n ** 53n }),
      make('v1 ConfigMap', 'a', { n: 2n ** 53n + 1n }),
      [{ path: 'n', before: '9007199254740992', after: '9007199254740993' }],
    ],
  };
  test.each(Object.entries(rows))('%s', (_, [before, after, expected]) => {
    expect(diffObjects(before, after)).toEqual(expected);
  });
});
