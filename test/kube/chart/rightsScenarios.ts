// What has to happen for a family to need each of its rights, where the examples do not make it happen.

import type { KubeObject } from '#api/object';
import type { Hands } from '#sim/hands';
import type { Bed } from '../bed/bed.ts';

export interface Scenario {
  /** Rights that this cluster cannot show in use, and where they are. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  play?(world: { readonly bed: Bed; readonly hands: Hands }): Promise<void>;
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

/** A Cleaner that acts as an account of its namespace, and one that waits for a kind that is not there. */
const CLEANERS = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: broom, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: broom, namespace: default }
rules:
  - { apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, delete] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: broom, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: broom }
subjects: [{ kind: ServiceAccount, name: broom, namespace: default }]
---
apiVersion: v1
kind: ConfigMap
metadata: { name: dust, namespace: default }
---
apiVersion: cleaner.vtex.dev/v1alpha
kind: Cleaner
metadata: { name: as-an-account, namespace: default }
spec:
  ttl: 0s
  serviceAccountName: broom
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
`;

const DETACHED = `
apiVersion: v1
kind: PersistentVolume
metadata: { name: to-detach }
spec:
  accessModes: [ReadWriteOnce]
  capacity: { storage: 1Gi }
  storageClassName: fast
  persistentVolumeReclaimPolicy: Delete
  csi: { driver: csi.example.com, volumeHandle: detach-0001 }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: to-detach, namespace: default }
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  volumeName: to-detach
  resources: { requests: { storage: 1Gi } }
---
apiVersion: storage.deckhouse.io/v1alpha1
kind: VolumeCaptureRequest
metadata: { name: detach, namespace: default }
spec:
  mode: Detach
  persistentVolumeClaimRef: { name: to-detach }
`;

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'ttl-policy': {
    async play({ hands }) {
      await hands.apply(POLICIES);
      await hands.apply(policy('maps', { target: { apiVersion: 'v1', kind: 'ConfigMap' } }) as KubeObject);
      await hands.apply(policy('nothing', { target: NOT_SERVED }) as KubeObject);
    },
  },
  cleaner: {
    play: ({ hands }) => hands.apply(CLEANERS).then(() => {}),
  },
  'volume-capture': {
    play: ({ hands }) => hands.apply(DETACHED).then(() => {}),
  },
  'object-keeper': {
    async play({ bed }) {
      const kinds = 'volumecapturerequests,volumerestorerequests,manifestcapturerequests';
      await bed.kubectl('delete', kinds, '--all', '--all-namespaces');
    },
  },
};
