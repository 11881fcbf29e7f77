// Simulates snapshot-controller of external-snapshotter v8: creates a VolumeSnapshotContent for each VolumeSnapshot, binds
// them, copies the status back, and deletes the content with the snapshot.

import { formatTime, instant } from '@lapse/base/instant';
import { BEING_DELETED, CONTENT_PROTECTION } from '@lapse/kube/api/kinds/snapshotNames';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { type Outcome, settled } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { CLAIM_AS_SOURCE, SNAPSHOT_AS_SOURCE, SNAPSHOT_BOUND } from './names.ts';
import { addFinalizer, annotate, patchObject, removeFinalizers, retryStaleReads } from './writes.ts';

const MEBIBYTE = 1024 ** 2;

const contentNameOf = ({ metadata, spec }: VolumeSnapshot): string =>
  spec?.source?.volumeSnapshotContentName ?? `snapcontent-${metadata.uid}`;

const isReady = ({ status }: VolumeSnapshot): boolean => status?.readyToUse === true;

async function reconcileSnapshot(ctx: ReconcileContext): Promise<Outcome> {
  const snapshot = ctx.cache.get(VolumeSnapshot, ctx.key);
  if (snapshot === undefined) return settled();
  if (snapshot.metadata.deletionTimestamp !== undefined) return deleteSnapshot(ctx, snapshot);
  const guarded = await addFinalizer(ctx, VolumeSnapshot, snapshot, SNAPSHOT_AS_SOURCE);
  const content = await contentFor(ctx, guarded);
  if (content === undefined) return settled();
  await bind(ctx, guarded, content);
  return settled();
}

/** The content of the snapshot. It is created for a snapshot of a claim that has none yet. */
async function contentFor(
  ctx: ReconcileContext,
  snapshot: VolumeSnapshot,
): Promise<VolumeSnapshotContent | undefined> {
  const name = contentNameOf(snapshot);
  const known = await ctx.client.get(VolumeSnapshotContent, { name });
  const { uid } = snapshot.metadata;
  if (known !== undefined) {
    if (known.spec?.volumeSnapshotRef?.uid !== undefined) return known;
    return patchObject(ctx, VolumeSnapshotContent, known, { spec: { volumeSnapshotRef: { uid } } });
  }
  if (snapshot.spec?.source?.volumeSnapshotContentName !== undefined) return undefined;
  return createContent(ctx, snapshot, name);
}

async function createContent(
  ctx: ReconcileContext,
  snapshot: VolumeSnapshot,
  name: string,
): Promise<VolumeSnapshotContent | undefined> {
  const { namespace, uid, resourceVersion } = snapshot.metadata;
  const className = snapshot.spec?.volumeSnapshotClassName ?? '';
  const claimKey = { namespace: namespace!, name: snapshot.spec?.source?.persistentVolumeClaimName ?? '' };
  const claim = await ctx.client.get(PersistentVolumeClaim, claimKey);
  const volume = await ctx.client.get(PersistentVolume, { name: claim?.spec?.volumeName ?? '' });
  const snapshotClass = await ctx.client.get(VolumeSnapshotClass, { name: className });
  const handle = volume?.spec?.csi?.volumeHandle;
  if (claim === undefined || handle === undefined || snapshotClass === undefined) return undefined;
  await addFinalizer(ctx, PersistentVolumeClaim, claim, CLAIM_AS_SOURCE);
  const created = await ctx.client.create(VolumeSnapshotContent, {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: VolumeSnapshotContent.kind,
    metadata: { name },
    spec: {
      deletionPolicy: snapshotClass.deletionPolicy!,
      driver: snapshotClass.driver!,
      source: { volumeHandle: handle },
      sourceVolumeMode: volume?.spec?.volumeMode ?? 'Filesystem',
      volumeSnapshotClassName: className,
      volumeSnapshotRef: {
        apiVersion: 'snapshot.storage.k8s.io/v1',
        kind: VolumeSnapshot.kind,
        namespace: namespace!,
        name: snapshot.metadata.name!,
        uid: uid!,
        resourceVersion: resourceVersion!,
      },
    },
  });
  if (created.kind !== 'created') return undefined;
  const note = `Waiting for a snapshot ${namespace}/${snapshot.metadata.name} to be created by the CSI driver.`;
  ctx.event(snapshot, { type: 'Normal', reason: 'CreatingSnapshot', action: 'Snapshot', note });
  return created.object;
}

/** Copies the content's status to the snapshot, adds the finalizer of bound snapshots, and releases the claim. */
async function bind(
  ctx: ReconcileContext,
  snapshot: VolumeSnapshot,
  content: VolumeSnapshotContent,
): Promise<void> {
  const status = statusOf(snapshot, content);
  const { namespace, name } = snapshot.metadata;
  const report = (reason: string, what: string) =>
    ctx.event(snapshot, {
      type: 'Normal',
      reason,
      action: 'Snapshot',
      note: `Snapshot ${namespace}/${name} ${what}.`,
    });
  if ('creationTime' in status) report('SnapshotCreated', 'was successfully created by the CSI driver');
  if (status.readyToUse === true) report('SnapshotReady', 'is ready to use');
  const written =
    Object.keys(status).length === 0
      ? snapshot
      : await patchObject(ctx, VolumeSnapshot, snapshot, { status }, { status: true });
  if (content.spec?.deletionPolicy === 'Delete')
    await addFinalizer(ctx, VolumeSnapshot, written, SNAPSHOT_BOUND);
  if (isReady(written)) await releaseClaim(ctx, written);
}

/** The fields of the snapshot's status that differ from its content. */
function statusOf({ status = {} }: VolumeSnapshot, content: VolumeSnapshotContent): Record<string, unknown> {
  const { readyToUse = false, creationTime, restoreSize, error } = content.status ?? {};
  const next: Record<string, unknown> = {};
  if (status.boundVolumeSnapshotContentName === undefined)
    next.boundVolumeSnapshotContentName = content.metadata.name;
  if (status.readyToUse !== readyToUse) next.readyToUse = readyToUse;
  if (status.creationTime === undefined && creationTime !== undefined)
    next.creationTime = formatTime(instant(Number(creationTime) / 1_000_000));
  if (status.restoreSize === undefined && restoreSize !== undefined)
    next.restoreSize = `${restoreSize / MEBIBYTE}Mi`;
  if (error !== undefined && status.error?.message !== error.message) next.error = error;
  if (error === undefined && status.error !== undefined) next.error = null;
  return next;
}

/** Removes the finalizer of the claim when no snapshot of it is unfinished. */
async function releaseClaim(ctx: ReconcileContext, { metadata, spec }: VolumeSnapshot): Promise<void> {
  const name = spec?.source?.persistentVolumeClaimName;
  if (name === undefined) return;
  const namespace = metadata.namespace!;
  const { items } = await ctx.client.list(VolumeSnapshot, { namespace });
  const isSource = (other: VolumeSnapshot) =>
    other.spec?.source?.persistentVolumeClaimName === name &&
    other.metadata.uid !== metadata.uid &&
    other.metadata.deletionTimestamp === undefined;
  if (items.some((other) => isSource(other) && !isReady(other))) return;
  const claim = await ctx.client.get(PersistentVolumeClaim, { namespace, name });
  if (claim !== undefined) await removeFinalizers(ctx, PersistentVolumeClaim, claim, CLAIM_AS_SOURCE);
}

async function deleteSnapshot(ctx: ReconcileContext, snapshot: VolumeSnapshot): Promise<Outcome> {
  let content = await ctx.client.get(VolumeSnapshotContent, { name: contentNameOf(snapshot) });
  if (content?.spec?.volumeSnapshotRef?.uid !== snapshot.metadata.uid) content = undefined;
  const deletes = content?.spec?.deletionPolicy === 'Delete';
  if (content !== undefined) {
    if (content.metadata.annotations?.[BEING_DELETED] === undefined)
      content = await annotate(ctx, VolumeSnapshotContent, content, { [BEING_DELETED]: 'yes' });
    if (deletes && content.metadata.deletionTimestamp === undefined)
      await ctx.client.delete(VolumeSnapshotContent, { name: content.metadata.name! });
  }
  await releaseClaim(ctx, snapshot);
  const released = deletes ? [SNAPSHOT_AS_SOURCE] : [SNAPSHOT_AS_SOURCE, SNAPSHOT_BOUND];
  await removeFinalizers(ctx, VolumeSnapshot, snapshot, ...released);
  return settled();
}

/** Protects contents that are bound to a VolumeSnapshot. */
async function reconcileContent(ctx: ReconcileContext, unbound: boolean): Promise<Outcome> {
  const content = ctx.cache.get(VolumeSnapshotContent, ctx.key);
  if (content === undefined || content.metadata.deletionTimestamp !== undefined) return settled();
  const { source, volumeSnapshotRef } = content.spec ?? {};
  if (volumeSnapshotRef?.uid !== undefined || (unbound && source?.volumeHandle !== undefined))
    await addFinalizer(ctx, VolumeSnapshotContent, content, CONTENT_PROTECTION);
  return settled();
}

const GROUP = VolumeSnapshot.group;

/** `unbound`: also protects contents without a VolumeSnapshot. */
export const snapshotController = ({ unbound = false } = {}): readonly ControllerDefinition[] => [
  defineController<VolumeSnapshot>({
    name: 'snapshot-controller',
    for: VolumeSnapshot,
    watches: [
      {
        kind: VolumeSnapshotContent,
        facts: ({ status, metadata }) => [status, metadata.uid],
        to: ({ spec }: VolumeSnapshotContent) => {
          const { namespace, name } = spec?.volumeSnapshotRef ?? {};
          return namespace === undefined || name === undefined ? [] : [{ namespace, name }];
        },
      },
    ],
    rights: [
      { group: '', resource: 'persistentvolumeclaims', verbs: ['get', 'patch'] },
      { group: '', resource: 'persistentvolumes', verbs: ['get'] },
      { group: GROUP, resource: 'volumesnapshotclasses', verbs: ['get'] },
      { group: GROUP, resource: 'volumesnapshots', verbs: ['patch'] },
      { group: GROUP, resource: 'volumesnapshots/status', verbs: ['patch'] },
      {
        group: GROUP,
        resource: 'volumesnapshotcontents',
        verbs: ['get', 'create', 'patch', 'delete'],
      },
    ],
    reconcile: retryStaleReads(reconcileSnapshot),
  }) as ControllerDefinition,
  defineController<VolumeSnapshotContent>({
    name: 'snapshot-controller-content',
    for: VolumeSnapshotContent,
    rights: [{ group: GROUP, resource: 'volumesnapshotcontents', verbs: ['patch'] }],
    reconcile: retryStaleReads((ctx) => reconcileContent(ctx, unbound)),
  }) as ControllerDefinition,
];
