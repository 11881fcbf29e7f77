// Simulated PV and PVC protection controllers: remove the protection finalizer of claims that no Pod uses and of volumes
// that are not bound.

import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import { Pod } from '@lapse/kube/api/kinds/builtin';
import { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { again, type Outcome, settled } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import {
  CLAIM_PROTECTION,
  claimsOf,
  isClaimUsed,
  isHeldBy,
  isVolumeUsed,
  VOLUME_PROTECTION,
} from './compute.ts';

const heldFacts =
  (finalizer: string) =>
  ({ metadata, status }: PersistentVolume | PersistentVolumeClaim) => ({
    held: isHeldBy(metadata, finalizer),
    phase: status?.phase,
  });

async function reconcileClaim({ cache, client, key }: ReconcileContext): Promise<Outcome> {
  const claim = cache.get(PersistentVolumeClaim, key);
  if (claim === undefined || !isHeldBy(claim.metadata, CLAIM_PROTECTION)) return settled();
  const namespace = claim.metadata.namespace!;
  const known = cache.byIndex(Pod, 'claim', `${namespace}/${claim.metadata.name}`);
  if (isClaimUsed(claim, known)) return settled();
  // A live list, because the cache may lack a Pod that was just created.
  if (isClaimUsed(claim, (await client.list(Pod, { namespace })).items))
    return again('a Pod that was not seen yet uses it');
  return removeFinalizer(client, PersistentVolumeClaim, claim, CLAIM_PROTECTION);
}

async function reconcileVolume({ cache, client, key }: ReconcileContext): Promise<Outcome> {
  const volume = cache.get(PersistentVolume, key);
  if (volume === undefined || !isHeldBy(volume.metadata, VOLUME_PROTECTION)) return settled();
  return isVolumeUsed(volume)
    ? settled()
    : removeFinalizer(client, PersistentVolume, volume, VOLUME_PROTECTION);
}

async function removeFinalizer<T extends KubeObject>(
  client: ReconcileContext['client'],
  kind: Kind<T>,
  object: T,
  finalizer: string,
): Promise<Outcome> {
  const { uid, resourceVersion, finalizers = [] } = object.metadata;
  const left = finalizers.filter((name) => name !== finalizer);
  const answer = await client.patch(
    kind,
    keyOf(object),
    { type: 'merge', patch: { metadata: { finalizers: left.length === 0 ? null : left } } },
    { ifUid: uid!, ifVersion: resourceVersion! },
  );
  if (answer.kind === 'invalid') throw answer.error;
  return answer.kind === 'conflict' ? again('changed since read') : settled();
}

const claimKeys = (pod: Pod): ObjectKey[] =>
  claimsOf(pod).map((name) => ({ namespace: pod.metadata.namespace!, name }));

export const claimProtection = (): ControllerDefinition =>
  defineController<PersistentVolumeClaim>({
    name: 'pvc-protection',
    for: PersistentVolumeClaim,
    facts: heldFacts(CLAIM_PROTECTION),
    watches: [
      {
        kind: Pod,
        facts: ({ metadata, spec }: Pod) => ({
          node: spec?.nodeName,
          claims: spec?.volumes,
          shutDown: metadata.deletionGracePeriodSeconds === 0,
        }),
        indexes: { claim: (pod: Pod) => claimKeys(pod).map(({ namespace, name }) => `${namespace}/${name}`) },
        to: claimKeys,
      },
    ],
    rights: [
      { group: '', resource: 'pods', verbs: ['list'] },
      { group: '', resource: 'persistentvolumeclaims', verbs: ['patch'] },
    ],
    reconcile: reconcileClaim,
  }) as ControllerDefinition;

export const volumeProtection = (): ControllerDefinition =>
  defineController<PersistentVolume>({
    name: 'pv-protection',
    for: PersistentVolume,
    facts: heldFacts(VOLUME_PROTECTION),
    rights: [{ group: '', resource: 'persistentvolumes', verbs: ['patch'] }],
    reconcile: reconcileVolume,
  }) as ControllerDefinition;
