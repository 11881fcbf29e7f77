import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { make, strips } from './strip.testkit.ts';
import { stripObject } from './strip.ts';

describe('every kind', () => {
  strips({
    'removes server fields, keeps labels and annotations of users': [
      make(
        'example.com/v1',
        'Thing',
        { spec: { size: 3 }, status: { phase: 'Done' } },
        {
          uid: 'u',
          resourceVersion: '7',
          generation: 2,
          creationTimestamp: '2026-01-01T00:00:00Z',
          deletionTimestamp: '2026-01-02T00:00:00Z',
          deletionGracePeriodSeconds: 0,
          selfLink: '/x',
          managedFields: [{ manager: 'kubectl' }],
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'o' }],
          labels: { app: 'web' },
          annotations: { note: 'mine', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
          generateName: 'a-',
        },
      ),
      {
        spec: { size: 3 },
        metadata: { labels: { app: 'web' }, annotations: { note: 'mine' }, generateName: 'a-' },
      },
    ],
    'removes annotations if only controllers set them': [
      make('v1', 'ConfigMap', {}, { annotations: { 'deployment.kubernetes.io/revision': '4' } }),
      {},
    ],
    'removes system finalizers, keeps finalizers of users': [
      make(
        'v1',
        'ConfigMap',
        {},
        {
          finalizers: [
            'foregroundDeletion',
            'orphan',
            'kubernetes.io/pvc-protection',
            'service.kubernetes.io/load-balancer-cleanup',
            'snapshot.storage.kubernetes.io/pvc-as-source-protection',
            'external-attacher.csi.storage.k8s.io/x',
            'example.com/audit',
            'notkubernetes.io/kept',
          ],
        },
      ),
      { metadata: { finalizers: ['example.com/audit', 'notkubernetes.io/kept'] } },
    ],
    'keeps numbers above 2^53': [
      make('example.com/v1', 'Thing', { spec: { big: 2n ** 53n + 1n } }),
      { spec: { big: 2n ** 53n + 1n } },
    ],
    'does not change a Service, Pod or Job of another API group': [
      make('serving.knative.dev/v1', 'Service', {
        spec: { clusterIP: '10.0.0.1', ports: [{ nodePort: 1 }] },
      }),
      { spec: { clusterIP: '10.0.0.1', ports: [{ nodePort: 1 }] } },
    ],
  });
});

describe('Services', () => {
  const ports = [{ name: 'http', port: 80, targetPort: 8080, nodePort: 31_000 }];
  strips({
    'lose their addresses and node ports': [
      make('v1', 'Service', {
        spec: {
          type: 'LoadBalancer',
          clusterIP: '10.0.0.7',
          clusterIPs: ['10.0.0.7'],
          ipFamilies: ['IPv4'],
          ipFamilyPolicy: 'SingleStack',
          healthCheckNodePort: 30_999,
          externalTrafficPolicy: 'Local',
          selector: { app: 'web' },
          ports,
        },
        status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
      }),
      {
        spec: {
          type: 'LoadBalancer',
          externalTrafficPolicy: 'Local',
          selector: { app: 'web' },
          ports: [{ name: 'http', port: 80, targetPort: 8080 }],
        },
      },
    ],
    'stay headless': [
      make('v1', 'Service', {
        spec: { clusterIP: 'None', clusterIPs: ['None'], ipFamilyPolicy: 'PreferDualStack' },
      }),
      { spec: { clusterIP: 'None', clusterIPs: ['None'], ipFamilyPolicy: 'PreferDualStack' } },
    ],
    'keep their external name': [
      make('v1', 'Service', { spec: { type: 'ExternalName', externalName: 'db.example.com' } }),
      { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
    ],
  });
});

describe('storage', () => {
  strips({
    'a claim loses its volume and its selected node': [
      make(
        'v1',
        'PersistentVolumeClaim',
        {
          spec: {
            volumeName: 'pv-1',
            storageClassName: 'fast',
            dataSource: { kind: 'VolumeSnapshot', name: 's' },
          },
        },
        {
          finalizers: ['kubernetes.io/pvc-protection'],
          annotations: {
            'pv.kubernetes.io/bind-completed': 'yes',
            'pv.kubernetes.io/bound-by-controller': 'yes',
            'volume.kubernetes.io/selected-node': 'n1',
            'volume.kubernetes.io/storage-provisioner': 'csi',
            'volume.beta.kubernetes.io/storage-provisioner': 'csi',
            owner: 'me',
          },
        },
      ),
      {
        spec: { storageClassName: 'fast', dataSource: { kind: 'VolumeSnapshot', name: 's' } },
        metadata: { annotations: { owner: 'me' } },
      },
    ],
    'claim templates lose empty fields that Go writes': [
      make('apps/v1', 'StatefulSet', {
        spec: {
          template: { metadata: { creationTimestamp: null, labels: { app: 'db' } } },
          volumeClaimTemplates: [
            { metadata: { name: 'data', creationTimestamp: null }, spec: {}, status: { phase: 'Pending' } },
          ],
        },
      }),
      {
        spec: {
          template: { metadata: { labels: { app: 'db' } } },
          volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }],
        },
      },
    ],
  });
});

describe('service accounts and namespaces', () => {
  strips({
    'a service account loses generated tokens and keeps secrets of users': [
      make(
        'v1',
        'ServiceAccount',
        {
          secrets: [
            { name: 'builder-token-x7k2p' },
            { name: 'builder-dockercfg-5hq8z' },
            { name: 'builder-extra' },
          ],
          imagePullSecrets: [{ name: 'builder-dockercfg-5hq8z' }],
        },
        { name: 'builder' },
      ),
      { secrets: [{ name: 'builder-extra' }] },
    ],
    'a Namespace loses its finalizers and the label of its name': [
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: {
          name: 'shop',
          labels: { 'kubernetes.io/metadata.name': 'shop', team: 'a' },
          annotations: { 'openshift.io/sa.scc.uid-range': '1/2' },
        },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      },
      { metadata: { labels: { team: 'a' } } },
    ],
  });
});

describe('invalid input', () => {
  const odd: readonly unknown[] = [null, 7, 'text', [], [null], [[{}]], {}];
  const kinds = ['Service', 'Pod', 'PersistentVolumeClaim', 'ServiceAccount', 'Namespace'] as const;
  test.each(kinds)('a %s with fields of any type causes no exception', (kind) => {
    for (const value of odd) {
      const spec = { ports: value, containers: value, volumes: value, template: value };
      for (const rest of [{ spec: value }, { spec }, { secrets: value }, { status: value }])
        expect(() =>
          stripObject(make('v1', kind, rest, { annotations: value, finalizers: value, labels: value })),
        ).not.toThrow();
    }
  });

  test('invalid metadata is kept, so that the server refuses it', () => {
    expect(stripObject({ apiVersion: 'v1', kind: 'Pod', metadata: null } as unknown as KubeObject)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: null,
    });
  });

  test('prototype names are ordinary names', () => {
    const object = JSON.parse(
      '{"apiVersion":"v1","kind":"constructor","metadata":{"name":"a","annotations":{"__proto__":"x"}}}',
    );
    const stripped = stripObject(object);
    expect(Object.keys(stripped.metadata.annotations!)).toEqual(['__proto__']);
  });
});
