// Tests the pure part of a restore: skipped objects, namespace, order and differences.

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

describe('computeSkip', () => {
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
    'restores a ConfigMap': [make('v1 ConfigMap', 'a'), undefined],
    'restores a Secret': [make('v1 Secret', 'a', { type: 'Opaque' }), undefined],
    'skips a service account token': [
      make('v1 Secret', 'a', { type: 'kubernetes.io/service-account-token' }),
      /new one/,
    ],
    'skips a Secret that was captured without its values': [
      make('v1 Secret', 'a', {}, { annotations: { 'state-snapshotter.deckhouse.io/redacted': 'true' } }),
      /without its values/,
    ],
    'skips the ConfigMap with the root CA': [make('v1 ConfigMap', 'kube-root-ca.crt'), /in every namespace/],
    'skips a ReplicaSet of a captured Deployment': [
      make('apps/v1 ReplicaSet', 'web-abc', {}, controlledBy('Deployment', 'web', 'deploy')),
      /^Deployment web recreates it$/,
    ],
    'restores a ReplicaSet whose Deployment was not captured': [
      make('apps/v1 ReplicaSet', 'x-1', {}, controlledBy('Deployment', 'x', 'other')),
      undefined,
    ],
    'skips a Pod of a captured ReplicaSet': [
      make('v1 Pod', 'p', {}, controlledBy('ReplicaSet', 'web-abc', 'rs')),
      /recreates it/,
    ],
    'skips a Pod of a captured Deployment whose ReplicaSet was not captured': [
      make(
        'v1 Pod',
        'p',
        {},
        {
          ...controlledBy('ReplicaSet', 'web-def', 'unknown'),
          labels: { 'pod-template-hash': 'def' },
        },
      ),
      /^Deployment web recreates it$/,
    ],
    'restores a Pod without a controller': [make('v1 Pod', 'p'), undefined],
    'restores a Pod with an owner that is not its controller': [
      make(
        'v1 Pod',
        'p',
        {},
        { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'own', uid: 'pod' }] },
      ),
      undefined,
    ],
    'skips a claim that a captured Pod controls': [
      make('v1 PersistentVolumeClaim', 'own-scratch', {}, controlledBy('Pod', 'own', 'pod')),
      /Pod own recreates it/,
    ],
    'restores a Secret that a captured owner controls, because its content may not exist elsewhere': [
      make('v1 Secret', 'a', {}, controlledBy('Deployment', 'web', 'deploy')),
      undefined,
    ],
    'skips Endpoints of a Service with a selector': [make('v1 Endpoints', 'web'), /finds/],
    'restores Endpoints that a user wrote': [make('v1 Endpoints', 'manual'), undefined],
    'skips an EndpointSlice of the controller': [
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
    'restores an EndpointSlice that a user wrote': [
      make('discovery.k8s.io/v1 EndpointSlice', 'x'),
      undefined,
    ],
    'skips an Event': [make('events.k8s.io/v1 Event', 'x'), /not restored/],
    'skips a Lease': [make('coordination.k8s.io/v1 Lease', 'x'), /current holder/],
    'skips a request': [make('storage.deckhouse.io/v1alpha1 VolumeCaptureRequest', 'x'), /carried out once/],
    'skips a VolumeSnapshot': [make('snapshot.storage.k8s.io/v1 VolumeSnapshot', 'x'), /another/],
    'skips a completed Job': [make('batch/v1 Job', 'x', ended('Complete')), /--include-finished/],
    'skips a failed Job': [make('batch/v1 Job', 'x', ended('Failed')), /--include-finished/],
    'restores a finished Job with includeFinished': [
      make('batch/v1 Job', 'x', ended('Complete')),
      undefined,
      { includeFinished: true },
    ],
    'restores a suspended Job': [make('batch/v1 Job', 'x', ended('Suspended')), undefined],
    'skips a finished Pod': [make('v1 Pod', 'x', { status: { phase: 'Succeeded' } }), /again/],
    'restores a running Pod': [make('v1 Pod', 'x', { status: { phase: 'Running' } }), undefined],
    'ignores fields with an invalid type': [
      make('batch/v1 Job', 'x', { status: { conditions: 'odd' } }, { ownerReferences: 7 }),
      undefined,
    ],
    'ignores prototype names': [make('v1 constructor', 'x'), undefined],
  };
  test.each(Object.entries(rows))('%s', (_, [object, expected, options]) => {
    const because = computeSkip(object, captured, options);
    if (expected === undefined) expect(because).toBeUndefined();
    else expect(because).toMatch(expected);
  });
});

describe('a move to another namespace', () => {
  const move = { from: 'shop', to: 'copy' };

  test('changes the namespace of a RoleBinding and of its service accounts', () => {
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

  test('renames a Namespace object', () => {
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', labels: { team: 'a' } },
    };
    expect(moveObject(namespace, move).metadata).toEqual({ name: 'copy', labels: { team: 'a' } });
  });

  test('reports references to the old namespace, but not similar text', () => {
    const object = make('v1 ConfigMap', 'a', {
      data: { url: 'http://db.shop.svc:5432', other: 'http://db.workshop.svc', plain: 'shop' },
      spec: { ref: [{ namespace: 'shop' }, { namespace: 'shopping' }] },
    });
    expect(mentionsOf(moveObject(object, move), 'shop')).toEqual(['data.url', 'spec.ref[0].namespace']);
  });
});

test('restores configuration before workloads, then custom resources, quotas last; equal ranks keep their order', () => {
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
    'ignore server fields and status': [
      make('v1 ConfigMap', 'a', { status: 1 }, { resourceVersion: '1', generation: 1, managedFields: [] }),
      make('v1 ConfigMap', 'a', { status: 2 }, { resourceVersion: '2', generation: 2, managedFields: [{}] }),
      [],
    ],
    'show values by path': [
      make('v1 ConfigMap', 'a', { data: { x: '1', gone: 'y', 'a.b': 'old' } }),
      make('v1 ConfigMap', 'a', { data: { x: '2', here: 'z', 'a.b': 'new' } }),
      [
        { path: 'data["a.b"]', before: '"old"', after: '"new"' },
        { path: 'data.gone', before: '"y"' },
        { path: 'data.here', after: '"z"' },
        { path: 'data.x', before: '"1"', after: '"2"' },
      ],
    ],
    'compare containers by name and other items by position': [
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
    'include a changed order': [
      make('v1 Pod', 'a', { spec: { initContainers: [{ name: 'a' }, { name: 'b' }] } }),
      make('v1 Pod', 'a', { spec: { initContainers: [{ name: 'b' }, { name: 'a' }] } }),
      [{ path: 'spec.initContainers', before: '["a","b"]', after: '["b","a"]' }],
    ],
    'do not show the values of a Secret': [
      make('v1 Secret', 'a', { data: { key: 'aHVudGVyMg==' } }),
      make('v1 Secret', 'a', { data: { key: 'c3dvcmRmaXNo', new: 'eA==' }, type: 'Opaque' }),
      [
        { path: 'data.key', before: '(hidden, 12 characters)', after: '(hidden, 12 characters)' },
        { path: 'data.new', after: '(hidden, 4 characters)' },
        { path: 'type', after: '"Opaque"' },
      ],
    ],
    'do not show the whole data of a Secret': [
      make('v1 Secret', 'a', { data: { key: 'aHVudGVyMg==' } }),
      make('v1 Secret', 'a'),
      [{ path: 'data', before: '(hidden)' }],
    ],
    'do not show the value of a Secret key with dots': [
      make('v1 Secret', 'a', { data: { 'tls.key': 'aaaa' } }),
      make('v1 Secret', 'a', { data: { 'tls.key': 'bbbb' } }),
      [{ path: 'data["tls.key"]', before: '(hidden, 4 characters)', after: '(hidden, 4 characters)' }],
    ],
    'include the last digit of numbers above 2^53': [
      make('v1 ConfigMap', 'a', { n: 2n ** 53n }),
      make('v1 ConfigMap', 'a', { n: 2n ** 53n + 1n }),
      [{ path: 'n', before: '9007199254740992', after: '9007199254740993' }],
    ],
  };
  test.each(Object.entries(rows))('%s', (_, [before, after, expected]) => {
    expect(diffObjects(before, after)).toEqual(expected);
  });
});
