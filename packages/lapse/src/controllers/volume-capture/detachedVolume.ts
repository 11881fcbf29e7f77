// Detached volumes that are bound again belong to their new claim. The keeper of the detach must not delete them when
// it is deleted.

import { plus, seconds } from '@lapse/base/instant';
import { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import { patchObject } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { computeRebound, detachKeeper } from './decideDetach.ts';

/**
 * OwnerReferencesPermissionEnforcement requires it where owner references change. This controller deletes no
 * volumes.
 */
export const TO_CHANGE_OWNERS = 'delete';

/** The binder updates the claim after the volume. */
const BINDING = seconds(30);

export const detachedVolumeController = (): ControllerDefinition<PersistentVolume> =>
  defineController<PersistentVolume>({
    name: 'detached-volume',
    for: PersistentVolume,
    facts: (volume) => [
      detachKeeper(volume)?.uid,
      volume.metadata.deletionTimestamp,
      volume.spec?.claimRef,
      volume.status?.phase,
    ],
    rights: [
      { group: '', resource: 'persistentvolumes', verbs: ['patch', TO_CHANGE_OWNERS] },
      { group: '', resource: 'persistentvolumeclaims', verbs: ['get'] },
    ],
    reconcile,
  });

async function reconcile(ctx: ReconcileContext): Promise<Outcome> {
  const volume = ctx.cache.get(PersistentVolume, ctx.key);
  const keeper = volume === undefined ? undefined : detachKeeper(volume);
  const { namespace, name } = volume?.spec?.claimRef ?? {};
  if (volume === undefined || keeper === undefined || !namespace || !name) return settled();
  const claim = await ctx.client.get(PersistentVolumeClaim, { namespace, name });
  if (claim === undefined) return settled();
  const patch = computeRebound(volume, claim);
  if (patch === undefined) return waitUntil(plus(ctx.now, BINDING), 'claim');
  const patched = await patchObject(ctx, PersistentVolume, volume, { patch });
  if ('outcome' in patched) return patched.outcome;
  const note = `bound to claim ${namespace}/${name} again: ObjectKeeper ${keeper.name} does not own it any more`;
  ctx.event(volume, { type: 'Normal', reason: 'BoundAgain', action: 'Release', note });
  return settled();
}
