// The steps in which a family needs each of its rights, where the examples do not suffice.

import type { KubeObject } from '@lapse/kube/api/object';
import type { UserClient } from '@lapse/simulation/userClient';
import { NAMESPACE } from '../../scenarios/rbac/installation.ts';
import type { Bed } from '../bed/bed.ts';

export interface Scenario {
  /** Created before the process starts. */
  readonly before?: readonly KubeObject[];
  /** What operators grant for the targets of policies and captures: `deployments.apps`. */
  readonly granted?: readonly string[];
  run?(world: World): Promise<void>;
}

export interface World {
  readonly bed: Bed;
  readonly userClient: UserClient;
}

const policy = (name: string, spec: object) => ({
  apiVersion: 'lapse.dev/v1alpha1',
  kind: 'ClusterTTLPolicy',
  metadata: { name },
  spec: { ttl: '720h', from: 'Created', mode: 'DryRun', ...spec },
});

const NOT_SERVED = { apiVersion: 'nowhere.example.com/v1', kind: 'Nothing' };

const POLICIES = `
apiVersion: lapse.dev/v1alpha1
kind: TTLPolicy
metadata: { name: maps, namespace: default }
spec:
  target: { apiVersion: v1, kind: ConfigMap }
  ttl: 720h
  from: Created
  mode: DryRun
`;

/** A user created it empty beforehand. The process fills it. */
const EMPTY_CERTIFICATE = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'only-cleaner-webhook', namespace: NAMESPACE },
} as KubeObject;

/** A Cleaner with the rights of its author, and one that waits for a kind that is not served. */
const CLEANERS = `
apiVersion: v1
kind: ConfigMap
metadata: { name: dust, namespace: default }
---
apiVersion: cleaner.vtex.dev/v1alpha
kind: Cleaner
metadata: { name: for-its-author, namespace: default }
spec:
  ttl: 0s
  targets:
    - { name: dust, reference: { kind: configmap, name: dust }, delete: true }
---
apiVersion: cleaner.vtex.dev/v1alpha
kind: Cleaner
metadata: { name: waits-for-a-kind, namespace: default }
spec:
  ttl: 0s
  targets:
    - name: nothing
      reference: { apiGroup: nowhere.example.com, kind: nothing, name: x }
      includeWhenEvaluating: true
  conditions: ["true"]
  retry: { period: 1h }
`;

const DETACHED = `
apiVersion: v1
kind: PersistentVolume
metadata: { name: to-detach }
spec:
  accessModes: [ReadWriteOnce]
  capacity: { storage: 1Gi }
  storageClassName: fast
  persistentVolumeReclaimPolicy: Retain
  csi: { driver: csi.example.com, volumeHandle: detach-0001 }
  claimRef: { apiVersion: v1, kind: PersistentVolumeClaim, namespace: default, name: to-detach }
status: { phase: Bound }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: to-detach, namespace: default }
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  volumeName: to-detach
  resources: { requests: { storage: 1Gi } }
status: { phase: Bound }
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeCaptureRequest
metadata: { name: detach, namespace: default }
spec:
  mode: Detach
  persistentVolumeClaimRef: { name: to-detach }
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeCaptureRequest
metadata: { name: for-the-keeper, namespace: default }
spec:
  mode: Snapshot
  persistentVolumeClaimRef: { name: orders }
`;

const captureOf = (name: string) => `
apiVersion: state-snapshotter.deckhouse.io/v1alpha1
kind: ManifestCaptureRequest
metadata: { name: ${name}, namespace: default }
spec:
  targets:
    - { apiVersion: v1, kind: ConfigMap, name: to-capture }
`;

const CAPTURED = `
apiVersion: v1
kind: ConfigMap
metadata: { name: to-capture, namespace: default }
---${captureOf('for-the-keeper')}---${captureOf('for-the-ttl')}`;

/** Missing sources, and a target that belongs to another controller: read live before a request fails. */
const IMPOSSIBLE = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: taken, namespace: default }
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  resources: { requests: { storage: 1Gi } }
status: { phase: Lost }
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeRestoreRequest
metadata: { name: no-content, namespace: default }
spec:
  sourceRef: { kind: VolumeSnapshotContent, name: not-there }
  targetPVCName: never-made
  storageClassName: fast
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeRestoreRequest
metadata: { name: no-volume, namespace: default }
spec:
  sourceRef: { kind: PersistentVolume, name: not-there }
  targetPVCName: never-made
  storageClassName: fast
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeRestoreRequest
metadata: { name: target-taken, namespace: default }
spec:
  sourceRef: { kind: VolumeSnapshotContent, name: orders-of-last-week }
  targetPVCName: taken
  storageClassName: fast
`;

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'ttl-policy': {
    granted: ['configmaps'],
    async run({ userClient }) {
      await userClient.apply(POLICIES);
      const maps = { apiVersion: 'v1', kind: 'ConfigMap' };
      const namespaceSelector = { matchLabels: { team: 'none' } };
      await userClient.apply(policy('maps', { target: maps, namespaceSelector }) as KubeObject);
      await userClient.apply(policy('nothing', { target: NOT_SERVED }) as KubeObject);
    },
  },
  cleaner: {
    before: [EMPTY_CERTIFICATE],
    granted: ['configmaps'],
    run: ({ userClient }) => userClient.apply(CLEANERS).then(() => {}),
  },
  'volume-capture': {
    run: ({ userClient }) => userClient.apply(DETACHED).then(() => {}),
  },
  'volume-restore': {
    run: ({ userClient }) => userClient.apply(IMPOSSIBLE).then(() => {}),
  },
  'manifest-capture': {
    granted: ['configmaps', 'secrets', 'deployments.apps'],
    run: ({ userClient }) => userClient.apply(CAPTURED).then(() => {}),
  },
  'object-keeper': {
    async run({ bed }) {
      for (const kind of ['volumecapturerequest', 'manifestcapturerequest'])
        await bed.kubectl('delete', kind, 'for-the-keeper', '-n', 'default', '--ignore-not-found');
    },
  },
};
