// Which part of an object is stored in a checkpoint.

import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { computeManifest } from './profile.ts';

const object = (kind: string, metadata: object = {}, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'x', namespace: 'shop', ...metadata },
  ...more,
});
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const SECRET = object(
  'Secret',
  { annotations: { [LAST_APPLIED]: '{"data":{"p":"aHVudGVyMg=="}}', mine: 'yes' } },
  { type: 'Opaque', data: { p: 'aHVudGVyMg==' }, stringData: { q: 'hunter2' } },
);

describe('secrets', () => {
  const of = (secrets: 'include' | 'redact', from = SECRET) =>
    computeManifest(from, { secrets, profile: 'verbatim' });
  test('include: Secrets are stored unchanged', () => expect(of('include')).toEqual(SECRET));
  test('redact: Secrets are stored without any value and with a mark', () => {
    expect(of('redact')).toEqual(
      object(
        'Secret',
        { annotations: { mine: 'yes', 'state-snapshotter.deckhouse.io/redacted': 'true' } },
        { type: 'Opaque' },
      ),
    );
    expect(JSON.stringify(of('redact'))).not.toMatch(/hunter2|aHVudGVyMg/);
  });
  test('redact: other kinds are stored unchanged', () => {
    const map = object('ConfigMap', {}, { data: { a: 'b' } });
    expect(of('redact', map)).toEqual(map);
    const custom = { ...SECRET, apiVersion: 'example.com/v1' };
    expect(of('redact', custom)).toEqual(custom);
  });
});

describe('the profile clean', () => {
  const of = (from: KubeObject) => computeManifest(from, { secrets: 'include', profile: 'clean' });
  const label = (key: string, value: string) => ({ labels: { [key]: value } });

  test.each<[string, KubeObject]>([
    [
      'objects that request to be skipped',
      object('ConfigMap', label('backup.deckhouse.io/exclude-from-backup', 'true')),
    ],
    ['objects that the platform created', object('Role', label('heritage', 'deckhouse'))],
    ['archives', object('ConfigMap', label('app', 'snapshot-archive'))],
    ['the cluster’s root certificates', object('ConfigMap', { name: 'kube-root-ca.crt' })],
    ['Secrets created by controllers', object('Secret', {}, { type: 'kubernetes.io/service-account-token' })],
    ['objects with an owner', object('ConfigMap', { ownerReferences: [{}] })],
    ['Pods', object('Pod')],
    ['claims', object('PersistentVolumeClaim')],
  ])('leaves out %s', (_what, from) => expect(of(from)).toBeUndefined());

  test('keeps the fields that users wrote', () => {
    const from = object(
      'Service',
      {
        uid: 'u',
        resourceVersion: '1',
        generation: 2,
        creationTimestamp: 't',
        finalizers: ['f'],
        managedFields: [{}],
        annotations: { a: 'b', 'backup.deckhouse.io/x': 'y' },
        labels: { app: 'web', 'app.kubernetes.io/name': 'web', other: 'no' },
      },
      {
        spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [{ port: 80 }] },
        status: { loadBalancer: {} },
      },
    );
    expect(of(from)).toEqual(
      object(
        'Service',
        {
          annotations: { 'backup.deckhouse.io/x': 'y' },
          labels: { app: 'web', 'app.kubernetes.io/name': 'web' },
        },
        { spec: { ports: [{ port: 80 }] } },
      ),
    );
  });
  test('includes the status and the data of a Secret only where configured', () => {
    const asked = (annotation: string) => ({
      annotations: { [`backup.deckhouse.io/${annotation}`]: 'true' },
    });
    const status = { phase: 'x' };
    expect(of(object('Widget', {}, { status }))).not.toHaveProperty('status');
    expect(of(object('Widget', asked('preserve-status'), { status }))).toHaveProperty('status', status);
    expect(of(SECRET)).not.toHaveProperty('data');
    expect(of(object('Secret', asked('include-secret-data'), { data: { a: 'b' } }))).toHaveProperty('data');
    expect(
      of(object('Secret', label('backup.deckhouse.io/include-secret', 'true'), { type: 'helm.sh/v1' })),
    ).toBeDefined();
  });
});
