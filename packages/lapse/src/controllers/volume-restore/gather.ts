// Reads what a restore needs: its source and its target. A cache may be stale, so no request fails because of cached
// state alone.

import type { ObjectKey } from '@lapse/kube/api/kind';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { cachedRead, liveRead, type Read } from '#requests/direct';
import { isFailure, snapshotFailureOf } from '#requests/refusal';
import {
  computeContentState,
  computeTargetState,
  computeVolumeState,
  type SourceRef,
  type SourceState,
  type TargetState,
} from './decide.ts';
import type { RestoreOptions } from './policy.ts';

/** The arguments that the steps of one reconcile share. */
export interface Restore {
  readonly ctx: ReconcileContext;
  readonly request: VolumeRestoreRequest;
  readonly options: RestoreOptions;
  readonly target: ObjectKey;
}

/** Whether the claim of this request is bound. */
export const isRestored = async ({ ctx, request, options, target }: Restore): Promise<boolean> =>
  computeTargetState(await options.direct.get(ctx, PersistentVolumeClaim, target), request).kind === 'bound';

export async function getSourceState({ ctx, options }: Restore, source: SourceRef): Promise<SourceState> {
  const look = async (read: Read): Promise<SourceState> => {
    const { name } = source;
    return source.kind === 'VolumeSnapshotContent'
      ? computeContentState(await read(VolumeSnapshotContent, { name }), name)
      : computeVolumeState(await read(PersistentVolume, { name }), name);
  };
  try {
    const cached = await look(cachedRead(ctx));
    return isFailure(cached) ? await look(liveRead(ctx, options.direct)) : cached;
  } catch (error) {
    return snapshotFailureOf(error, 'looking for the source');
  }
}

/** The claim of the provisioner. */
export async function getTarget({ ctx, request, options, target }: Restore): Promise<{
  readonly claim: PersistentVolumeClaim | undefined;
  readonly state: TargetState;
}> {
  const look = async (read: Read) => {
    const claim = await read(PersistentVolumeClaim, target);
    return { claim, state: computeTargetState(claim, request) };
  };
  const cached = await look(cachedRead(ctx));
  const isLive = isFailure(cached.state) || !ctx.cache.isSynced(PersistentVolumeClaim);
  return isLive ? look(liveRead(ctx, options.direct)) : cached;
}
