// What the API server accepts and refuses of the Lapse kinds, and what kubectl prints for them.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { VolumeRestoreRequest } from 'lapse/api/volumeRestoreRequest';
import { expect } from 'vitest';
import { requestScenario } from './invariants.ts';
import { capture, restore } from './kit.ts';

const refused: [string, KubeObject, RegExp][] = [
  ['an unknown mode', capture('x', { mode: 'Copy' }), /Unsupported value: "Copy"/],
  ['no mode', capture('x', { mode: undefined }), /spec.mode: Required value/],
  [
    'a reference without a name',
    capture('x', { persistentVolumeClaimRef: {} }),
    /persistentVolumeClaimRef.name: Required value/,
  ],
  [
    'an empty name',
    capture('x', { persistentVolumeClaimRef: { name: '' } }),
    /should be at least 1 chars long/,
  ],
  [
    'a name that is too long',
    capture('x', { volumeSnapshotClassName: 'x'.repeat(254) }),
    /may not be more than 253/,
  ],
  [
    'a reference of another kind',
    capture('x', { persistentVolumeClaimRef: { kind: 'Pod', name: 'p' } }),
    /Unsupported value: "Pod"/,
  ],
  ['no spec', { ...capture('x'), spec: undefined }, /spec: Required value/],
  [
    'a source of another kind',
    restore('x', { sourceRef: { kind: 'Pod', name: 'p' } }),
    /Unsupported value: "Pod"/,
  ],
  ['no source', restore('x', { sourceRef: undefined }), /spec.sourceRef: Required value/],
  ['no target', restore('x', { targetPVCName: undefined }), /spec.targetPVCName: Required value/],
  ['an unknown access mode', restore('x', { accessModes: ['Sometimes'] }), /Unsupported value: "Sometimes"/],
  ['an unknown volume mode', restore('x', { volumeMode: 'Raw' }), /Unsupported value: "Raw"/],
];

requestScenario(
  'manifests and statuses of storage-foundation v0.1 are accepted without an unknown field',
  async ({ given, simulation }) => {
    given.controllers('request-ttl');
    const { user } = await simulation();
    const strict = { fieldValidation: 'Strict' } as const;
    const condition = {
      type: 'Ready',
      status: 'False',
      reason: 'Pending',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = { observedGeneration: 1, conditions: [condition, condition] };
    const claimRef = { kind: 'PersistentVolumeClaim', name: 'data', namespace: '' };
    const captured = capture('c', { persistentVolumeClaimRef: claimRef, volumeSnapshotClassName: '' });
    expect((await user.create(VolumeCaptureRequest, captured, strict)).kind).toBe('created');
    const restored = restore('r', {
      sourceRef: { kind: 'VolumeSnapshotContent', name: 's', namespace: '' },
      serviceNamespace: 'd8-storage-foundation',
      targetNamespace: 'default',
      storageClassName: '',
    });
    expect((await user.create(VolumeRestoreRequest, restored, strict)).kind).toBe('created');
    for (const [kind, name, result] of [
      [VolumeCaptureRequest, 'c', { dataRef: { name: 'x', kind: 'PersistentVolume', namespace: '' } }],
      [VolumeRestoreRequest, 'r', { targetPVCRef: { name: 'x', namespace: 'default' } }],
    ] as const) {
      const patch = { status: { ...status, ...result } };
      const answer = await user.patch(
        kind as Kind,
        { namespace: 'default', name },
        { type: 'merge', patch },
        { subresource: 'status', ...strict },
      );
      expect(answer.kind).toBe('patched');
    }
  },
);

requestScenario(
  'kinds: refused specs, immutable fields, and printed columns',
  async ({ given, when, simulation }) => {
    given.controllers('request-ttl');
    for (const [what, object, why] of refused)
      await expect(when.user.create(object), what).rejects.toThrow(why);
    await when.user.create([capture('c'), restore('r')]);
    const { user } = await simulation();
    await expect(when.user.patch('vcr/c', { spec: { volumeSnapshotClassName: 'other' } })).rejects.toThrow(
      'one operation',
    );
    await expect(when.user.patch('vrr/r', { spec: { targetPVCName: 'other' } })).rejects.toThrow(
      'one operation',
    );
    const table = async (resource: string) => {
      const answer = await user.raw({
        method: 'GET',
        path: `/apis/storage.deckhouse.io/v1alpha1/namespaces/default/${resource}`,
        headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
      });
      const json = JSON.parse(Buffer.from(answer.body).toString()) as {
        columnDefinitions: { name: string }[];
      };
      return json.columnDefinitions.map(({ name }) => name);
    };
    expect(await table('volumecapturerequests')).toEqual([
      'Name',
      'Mode',
      'Ready',
      'Reason',
      'Artifact',
      'Age',
    ]);
    expect(await table('volumerestorerequests')).toEqual([
      'Name',
      'Source',
      'Target',
      'Ready',
      'Reason',
      'Age',
    ]);
  },
);
