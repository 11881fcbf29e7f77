// What of an object goes into a checkpoint.

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
  test('included: as they are', () => expect(of('include')).toEqual(SECRET));
  test('redacted: no value is left anywhere, and it says so', () => {
    expect(of('redact')).toEqual(
      object(
        'Secret',
        { annotations: { mine: 'yes', 'state-snapshotter.deckhouse.io/redacted': 'true' } },
        { type: 'Opaque' },
      ),
    );
    expect(JSON.stringify(of('redact'))).not.toMatch(/hunter2|aHVudGVyMg/);
  });
  test('redacted: what is no Secret stays', () => {
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
      'what asks to be left out',
      object('ConfigMap', label('backup.deckhouse.io/exclude-from-backup', 'true')),
    ],
    ['what the platform made', object('Role', label('heritage', 'deckhouse'))],
    ['archives', object('ConfigMap', label('app', 'snapshot-archive'))],
    ['the cluster’s root certificates', object('ConfigMap', { name: 'kube-root-ca.crt' })],
    ['Secrets of controllers', object('Secret', {}, { type: 'kubernetes.io/service-account-token' })],
    ['what another object owns', object('ConfigMap', { ownerReferences: [{}] })],
    ['Pods', object('Pod')],
    ['claims', object('PersistentVolumeClaim')],
  ])('leaves out %s', (_what, from) => expect(of(from)).toBeUndefined());

  test('keeps what people wrote', () => {
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
  test('a status, and the data of a Secret, only where they are asked for', () => {
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
