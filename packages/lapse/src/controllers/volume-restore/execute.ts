// Restores a volume without an external provisioner: creates what decideExecution.ts says, and removes the helpers when
// the claim is bound. All names come from the uid of the request, so a repeated attempt finds the objects of the first.

import { parseTime } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { KubeObject, OwnerReference } from '@lapse/kube/api/object';
import { KubeEvent } from '@lapse/runtime/events/build';
import type { Outcome } from '@lapse/runtime/outcome';
import { patchObject } from '@lapse/runtime/patchStatus';
import { ObjectKeeper } from '#api/objectKeeper';
import { Reason } from '#api/storage/conditions';
import type { Decision } from '#deletion/deletion';
import { controllerOf } from '#requests/keeper';
import { type Failure, failure, failureOf, isFailure } from '#requests/refusal';
import { carriesMark, computeExistingClaim, type SourceRef } from './decide.ts';
import {
  computeSnapshotExecution,
  computeVolumeExecution,
  helperName,
  type RestorePlace,
  storageClassProblem,
} from './decideExecution.ts';
import type { Restore } from './gather.ts';

const PROVISIONER_FINALIZER = 'provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection';

/** Deckhouse has a provisioner of its own for restore requests. */
const DECKHOUSE = { group: 'deckhouse.io', kind: 'ModuleConfig' };

export async function isExecutor({ ctx, options }: Restore): Promise<boolean> {
  const { executor } = options.policy;
  if (executor !== 'Auto') return executor === 'Lapse';
  return (await ctx.client.discovery.find(DECKHOUSE)) === undefined;
}

/** Undefined: everything is created, the claim can be observed. */
type Step = Failure | Outcome | undefined;

export async function execute(restore: Restore, source: SourceRef, owner: OwnerReference): Promise<Step> {
  const { ctx, options, target, request } = restore;
  const existing = await options.direct.get(ctx, PersistentVolumeClaim, target);
  if (existing !== undefined) return computeExistingClaim(existing, request);
  try {
    return source.kind === 'PersistentVolume'
      ? await executeFromVolume(restore, source.name, owner)
      : await executeFromContent(restore, source.name, owner);
  } catch (error) {
    return failureOf(error, `restoring ${source.kind} ${source.name}`);
  }
}

const placeOf = ({ request, target, options }: Restore, owner: OwnerReference): RestorePlace => ({
  request,
  target,
  allowCrossNamespace: options.policy.allowCrossNamespace,
  ...(options.policy.ownership === 'Keeper' ? { claimOwner: { ...owner, blockOwnerDeletion: false } } : {}),
});

async function executeFromContent(restore: Restore, name: string, owner: OwnerReference): Promise<Step> {
  const { ctx, options } = restore;
  const source = await options.direct.get(ctx, VolumeSnapshotContent, { name });
  if (source === undefined) return failure(Reason.NotFound, `VolumeSnapshotContent ${name} does not exist`);
  const helper = { ...owner, controller: false, blockOwnerDeletion: false };
  const made = computeSnapshotExecution(
    placeOf(restore, owner),
    source,
    await capturedIn(restore, source),
    helper,
  );
  if (isFailure(made)) return made;
  return (
    (await tryClaim(restore, made.claim, source.spec?.driver ?? '')) ??
    (await holdSource(restore, source, helper)) ??
    (await create(restore, VolumeSnapshotContent, made.content)) ??
    (await create(restore, VolumeSnapshot, made.snapshot)) ??
    (await create(restore, PersistentVolumeClaim, made.claim))
  );
}

/** The namespace that the content was captured in: by its reference, or by the keeper that owns it. */
async function capturedIn(
  { ctx, options }: Restore,
  { spec, metadata }: VolumeSnapshotContent,
): Promise<string | undefined> {
  const { namespace } = spec?.volumeSnapshotRef ?? {};
  if (namespace !== undefined) return namespace;
  const keeper = controllerOf(metadata.ownerReferences);
  if (keeper?.kind !== ObjectKeeper.kind) return undefined;
  const found = await options.direct.get(ctx, ObjectKeeper, { name: keeper.name });
  return found?.metadata.uid === keeper.uid ? found.spec?.followObjectRef?.namespace : undefined;
}

/** Checks the claim as a dry run, and its StorageClass, before anything is created. */
async function tryClaim(
  { ctx, options }: Restore,
  claim: PersistentVolumeClaim,
  driver: string,
): Promise<Step> {
  const answer = await ctx.client.create(PersistentVolumeClaim, claim, { dryRun: true });
  if (answer.kind === 'invalid') return refused(PersistentVolumeClaim, claim, answer.error);
  // It was created meanwhile. The next reconcile checks whether it is the claim of this request.
  if (answer.kind !== 'created') return undefined;
  const name = answer.object.spec?.storageClassName;
  const found = name ? await options.direct.get(ctx, StorageClass, { name }) : undefined;
  return storageClassProblem(answer.object, found, driver);
}

/**
 * The garbage collector must not delete the source while it is restored: the content, or the VolumeSnapshot that
 * snapshot-controller deletes it with.
 */
async function holdSource(
  restore: Restore,
  source: VolumeSnapshotContent,
  owner: OwnerReference,
): Promise<Outcome | undefined> {
  const { ctx, options } = restore;
  const { namespace, name, uid } = source.spec?.volumeSnapshotRef ?? {};
  const snapshot =
    namespace && name ? await options.direct.get(ctx, VolumeSnapshot, { namespace, name }) : undefined;
  return (
    (await hold(restore, VolumeSnapshotContent, source, owner)) ??
    (snapshot?.metadata.uid === uid ? await hold(restore, VolumeSnapshot, snapshot, owner) : undefined)
  );
}

/**
 * The keeper of this request becomes a second owner. An object without owners gets none, because it would be deleted with
 * its only owner.
 */
async function hold<T extends KubeObject>(
  { ctx }: Restore,
  kind: Kind<T>,
  object: T | undefined,
  owner: OwnerReference,
): Promise<Outcome | undefined> {
  const { ownerReferences = [] } = object?.metadata ?? {};
  if (object === undefined || ownerReferences.length === 0) return undefined;
  if (ownerReferences.some(({ uid }) => uid === owner.uid)) return undefined;
  const patch = { metadata: { ownerReferences: [...ownerReferences, owner] } };
  const held = await patchObject(ctx, kind, object, { patch: patch as never });
  return 'outcome' in held ? held.outcome : undefined;
}

async function executeFromVolume(restore: Restore, name: string, owner: OwnerReference): Promise<Step> {
  const { ctx, options } = restore;
  const volume = await options.direct.get(ctx, PersistentVolume, { name });
  if (volume === undefined) return failure(Reason.NotFound, `PersistentVolume ${name} does not exist`);
  const made = computeVolumeExecution(placeOf(restore, owner), volume);
  if (isFailure(made)) return made;
  const reserved = await patchObject(ctx, PersistentVolume, volume, { patch: made.patch });
  if ('outcome' in reserved) return reserved.outcome;
  return create(restore, PersistentVolumeClaim, made.claim);
}

/** An object that exists was created by an earlier attempt: the names are unique to the request. */
async function create<T extends KubeObject>({ ctx }: Restore, kind: Kind<T>, object: T): Promise<Step> {
  const answer = await ctx.client.create(kind, object);
  return answer.kind === 'invalid' ? refused(kind as Kind, object, answer.error) : undefined;
}

const refused = ({ group, kind }: Kind, { metadata }: KubeObject, { message }: Error): Failure =>
  failure(
    group === '' ? Reason.InvalidReference : Reason.UnsupportedSnapshotStack,
    `${kind} ${metadata.name} was refused: ${message}`,
  );

/**
 * Deletes the helpers, the VolumeSnapshot first. Objects of the same name that the request does not own stay. The source
 * keeps its second owner until the request is deleted: then the garbage collector decides by its other owners.
 */
export async function removeHelpers(restore: Restore, owner: OwnerReference): Promise<void> {
  const { target, request } = restore;
  const name = helperName(request);
  const key = { namespace: target.namespace!, name };
  await remove(restore, VolumeSnapshot, key, owner);
  await unblock(restore, key, owner);
  await remove(restore, VolumeSnapshotContent, { name }, owner);
}

/**
 * external-provisioner 6.1 to 6.3 leaves its finalizer on the source of a claim that is deleted before it is provisioned
 * (kubernetes-csi/external-provisioner issue 1507). The helper would be terminating for ever.
 */
async function unblock(restore: Restore, key: ObjectKey, owner: OwnerReference): Promise<void> {
  // snapshot-controller removes its own finalizers at the same time.
  for (let attempt = 0; attempt < MAX_CONFLICTS; attempt++)
    if (await removeProvisionerFinalizer(restore, key, owner)) return;
}

const MAX_CONFLICTS = 10;

/** Returns false after a conflict. */
async function removeProvisionerFinalizer(
  { ctx, options }: Restore,
  key: ObjectKey,
  owner: OwnerReference,
): Promise<boolean> {
  const snapshot = await options.direct.get(ctx, VolumeSnapshot, key);
  const { finalizers = [], ownerReferences, deletionTimestamp } = snapshot?.metadata ?? {};
  const isOwned = ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
  if (snapshot === undefined || !isOwned || deletionTimestamp === undefined) return true;
  const left = finalizers.filter((name) => name !== PROVISIONER_FINALIZER);
  if (left.length === finalizers.length) return true;
  const patch = { metadata: { finalizers: left.length === 0 ? null : left } };
  return !('outcome' in (await patchObject(ctx, VolumeSnapshot, snapshot, { patch })));
}

/** Deletes the claim that this request created and that no volume was bound to. */
export const removeClaim = async (restore: Restore, claim: PersistentVolumeClaim): Promise<void> => {
  const isRemovable = (live: PersistentVolumeClaim) =>
    carriesMark(live, restore.request) && live.status?.phase !== 'Bound';
  if (isRemovable(claim)) await removeObject(restore, PersistentVolumeClaim, claim, isRemovable);
};

async function remove<T extends KubeObject>(
  { ctx, options }: Restore,
  kind: Kind<T>,
  key: { readonly name: string; readonly namespace?: string },
  owner: OwnerReference,
): Promise<void> {
  const object = await options.direct.get(ctx, kind, key);
  const isOwned = object?.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
  if (object === undefined || !isOwned || object.metadata.deletionTimestamp !== undefined) return;
  await removeObject({ ctx, options }, kind, object, () => true);
}

async function removeObject<T extends KubeObject>(
  { ctx, options }: Pick<Restore, 'ctx' | 'options'>,
  kind: Kind<T>,
  object: T,
  isRemovable: (live: T) => boolean,
): Promise<void> {
  await options.expirer.expire(ctx, {
    kind,
    object,
    since: ctx.now,
    because: 'the restore has ended',
    decide: (live): Decision<'kept'> =>
      isRemovable(live) ? { kind: 'delete', since: ctx.now } : { kind: 'keep', because: 'kept' },
  });
}

/** The newest warning of a provisioner about the claim. */
export async function lastProblem(
  { ctx, target }: Restore,
  claim: PersistentVolumeClaim,
): Promise<string | undefined> {
  const { namespace, name } = keyOf(claim);
  const { items } = await ctx.client.list(KubeEvent, {
    namespace: target.namespace!,
    fieldSelector: `type=Warning,regarding.kind=${PersistentVolumeClaim.kind},regarding.name=${name},regarding.namespace=${namespace}`,
  });
  const timeOf = ({ series, eventTime, metadata }: KubeEvent): number =>
    parseTime(series?.lastObservedTime ?? eventTime ?? metadata.creationTimestamp ?? '') || 0;
  return items
    .filter(
      ({ reason, regarding }) => reason === 'ProvisioningFailed' && regarding?.uid === claim.metadata.uid,
    )
    .sort((a, b) => timeOf(b) - timeOf(a))[0]?.note;
}
