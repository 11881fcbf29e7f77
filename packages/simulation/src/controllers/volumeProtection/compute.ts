// Whether a terminating claim or volume is still in use. Pure. The rules are those of Kubernetes.

import type { Pod } from '@lapse/kube/api/kinds/builtin';
import type { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import type { ObjectMeta } from '@lapse/kube/api/object';

export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection';

export const isHeldBy = ({ deletionTimestamp, finalizers }: ObjectMeta, finalizer: string): boolean =>
  deletionTimestamp !== undefined && (finalizers?.includes(finalizer) ?? false);

/** Names of the claims that a Pod may use. */
export const claimsOf = ({ metadata, spec }: Pod): string[] =>
  (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [`${metadata.name}-${name}`];
  });

/** Only a Pod that is assigned to a Node uses a claim. */
export function isClaimUsed(claim: PersistentVolumeClaim, pods: readonly Pod[]): boolean {
  const { name, namespace } = claim.metadata;
  return pods.some(
    (pod) =>
      pod.metadata.namespace === namespace &&
      (pod.spec?.nodeName ?? '') !== '' &&
      (pod.spec?.volumes ?? []).some(
        (volume) =>
          volume.persistentVolumeClaim?.claimName === name ||
          (volume.ephemeral !== undefined &&
            `${pod.metadata.name}-${volume.name}` === name &&
            !isShutDown(pod) &&
            isMadeFor(claim, pod)),
      ),
  );
}

/** The kubelet has stopped the Pod, or the Pod was force-deleted. */
const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;

const isMadeFor = ({ metadata }: PersistentVolumeClaim, pod: Pod): boolean =>
  metadata.ownerReferences?.some(({ uid, controller }) => uid === pod.metadata.uid && controller === true) ??
  false;

/** The volume binder sets the phase Released when the claim is gone. */
export const isVolumeUsed = ({ status }: PersistentVolume): boolean => status?.phase === 'Bound';
