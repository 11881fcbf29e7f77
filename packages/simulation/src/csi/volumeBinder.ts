// Simulates persistentvolume-binder of kube-controller-manager: binds claims and volumes, assigns claims without a matching
// volume to an external provisioner, and keeps the phases of volumes.

import { compareQuantities, parseQuantity } from '@lapse/base/quantity';
import { keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import {
  type ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '@lapse/kube/api/kinds/volumes';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { type Outcome, settled } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import {
  BIND_COMPLETED,
  BOUND_BY_CONTROLLER,
  STORAGE_PROVISIONER,
  STORAGE_PROVISIONER_BETA,
} from './names.ts';
import { annotate, patchObject, retryStaleReads } from './writes.ts';

const refersTo = (ref: ObjectReference, { metadata }: PersistentVolumeClaim): boolean =>
  ref.namespace === metadata.namespace && ref.name === metadata.name;

/** Whether the volume is reserved for, or was provisioned for, the claim. */
function isFor({ spec, status }: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const ref = spec?.claimRef;
  if (ref === undefined || !refersTo(ref, claim)) return false;
  return ref.uid === undefined ? status?.phase === 'Available' : ref.uid === claim.metadata.uid;
}

function isLargeEnough(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const has = parseQuantity(volume.spec?.capacity?.storage ?? '');
  const wants = parseQuantity(claim.spec?.resources?.requests?.storage ?? '0');
  return 'quantity' in has && 'quantity' in wants && compareQuantities(has.quantity, wants.quantity) >= 0;
}

const isMatch = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  volume.spec?.claimRef === undefined &&
  volume.status?.phase === 'Available' &&
  volume.metadata.deletionTimestamp === undefined &&
  (volume.spec?.storageClassName ?? '') === (claim.spec?.storageClassName ?? '') &&
  (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem') &&
  (claim.spec?.accessModes ?? []).every((mode) => volume.spec?.accessModes?.includes(mode)) &&
  isLargeEnough(volume, claim);

function findVolume(ctx: ReconcileContext, claim: PersistentVolumeClaim): PersistentVolume | undefined {
  const name = claim.spec?.volumeName;
  if (name !== undefined) {
    const named = ctx.cache.get(PersistentVolume, { name });
    const free = named?.spec?.claimRef === undefined && named?.status?.phase === 'Available';
    return named !== undefined && (free || isFor(named, claim)) ? named : undefined;
  }
  const volumes = [...ctx.cache.list(PersistentVolume)];
  return volumes.find((volume) => isFor(volume, claim)) ?? volumes.find((volume) => isMatch(volume, claim));
}

async function reconcileClaim(ctx: ReconcileContext): Promise<Outcome> {
  const claim = ctx.cache.get(PersistentVolumeClaim, ctx.key);
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined) return settled();
  if (claim.metadata.annotations?.[BIND_COMPLETED] !== undefined) {
    await checkBound(ctx, claim);
    return settled();
  }
  const volume = findVolume(ctx, claim);
  if (volume !== undefined) await bind(ctx, claim, volume);
  else if (claim.spec?.volumeName === undefined) await provision(ctx, claim);
  else reportTaken(ctx, claim, claim.spec.volumeName);
  return settled();
}

async function bind(
  ctx: ReconcileContext,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<void> {
  const reserved = await reserve(ctx, claim, volume);
  if (reserved.status?.phase !== 'Bound') await setPhase(ctx, reserved, 'Bound');
  const chosen = claim.spec?.volumeName === undefined;
  const bound = await patchObject(ctx, PersistentVolumeClaim, claim, {
    metadata: {
      annotations: { [BIND_COMPLETED]: 'yes', ...(chosen ? { [BOUND_BY_CONTROLLER]: 'yes' } : {}) },
    },
    ...(chosen ? { spec: { volumeName: volume.metadata.name } } : {}),
  });
  await finish(ctx, bound, volume);
}

/** Writes the claim into the volume's claimRef. */
async function reserve(
  ctx: ReconcileContext,
  { apiVersion, kind, metadata }: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<PersistentVolume> {
  const { namespace, name, uid, resourceVersion } = metadata;
  const ref = volume.spec?.claimRef;
  if (ref?.uid === uid) return volume;
  const claimRef = { apiVersion, kind, namespace, name, uid, resourceVersion };
  return patchObject(
    ctx,
    PersistentVolume,
    volume,
    {
      ...(ref === undefined ? { metadata: { annotations: { [BOUND_BY_CONTROLLER]: 'yes' } } } : {}),
      spec: { claimRef },
    },
    { exact: true },
  );
}

const finish = (ctx: ReconcileContext, claim: PersistentVolumeClaim, { spec }: PersistentVolume) =>
  patchObject(
    ctx,
    PersistentVolumeClaim,
    claim,
    { status: { phase: 'Bound', accessModes: spec?.accessModes ?? [], capacity: spec?.capacity ?? {} } },
    { status: true },
  );

async function checkBound(ctx: ReconcileContext, claim: PersistentVolumeClaim): Promise<void> {
  const volume = await ctx.client.get(PersistentVolume, { name: claim.spec?.volumeName ?? '' });
  if (volume === undefined) {
    const status = { phase: 'Lost' };
    if (claim.status?.phase !== 'Lost')
      await patchObject(ctx, PersistentVolumeClaim, claim, { status }, { status: true });
  } else if (claim.status?.phase !== 'Bound') await finish(ctx, claim, volume);
}

async function provision(ctx: ReconcileContext, claim: PersistentVolumeClaim): Promise<void> {
  const name = claim.spec?.storageClassName ?? '';
  const provisioner = name === '' ? undefined : (await ctx.client.get(StorageClass, { name }))?.provisioner;
  if (provisioner === undefined || claim.metadata.annotations?.[STORAGE_PROVISIONER] === provisioner) return;
  const annotations = { [STORAGE_PROVISIONER]: provisioner, [STORAGE_PROVISIONER_BETA]: provisioner };
  await annotate(ctx, PersistentVolumeClaim, claim, annotations);
  ctx.event(claim, {
    type: 'Normal',
    reason: 'ExternalProvisioning',
    action: 'Provision',
    note: `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator.`,
  });
}

function reportTaken(ctx: ReconcileContext, claim: PersistentVolumeClaim, name: string): void {
  const claimRef = ctx.cache.get(PersistentVolume, { name })?.spec?.claimRef;
  if (claimRef === undefined || refersTo(claimRef, claim)) return;
  const note = `volume "${name}" already bound to a different claim.`;
  ctx.event(claim, { type: 'Warning', reason: 'FailedBinding', action: 'Bind', note });
}

const setPhase = (ctx: ReconcileContext, volume: PersistentVolume, phase: string) =>
  patchObject(ctx, PersistentVolume, volume, { status: { phase } }, { status: true });

async function reconcileVolume(ctx: ReconcileContext): Promise<Outcome> {
  const volume = ctx.cache.get(PersistentVolume, ctx.key);
  if (volume === undefined) return settled();
  const phase = await phaseOf(ctx, volume);
  if (phase !== undefined && phase !== volume.status?.phase) await setPhase(ctx, volume, phase);
  return settled();
}

/** Undefined: the claim exists, and binding it sets the phase. */
async function phaseOf(ctx: ReconcileContext, { spec }: PersistentVolume): Promise<string | undefined> {
  const ref = spec?.claimRef;
  if (ref?.namespace === undefined || ref.name === undefined) return 'Available';
  const key: ObjectKey = { namespace: ref.namespace, name: ref.name };
  const known = ctx.cache.get(PersistentVolumeClaim, key);
  const claim = known?.metadata.uid === ref.uid ? known : await ctx.client.get(PersistentVolumeClaim, key);
  if (ref.uid === undefined)
    return claim?.metadata.annotations?.[BIND_COMPLETED] === undefined ? 'Available' : undefined;
  return claim?.metadata.uid === ref.uid ? undefined : 'Released';
}

/** Claims that a change of the volume may affect: the one it refers to, and all claims that wait for a volume. */
function claimsOf(
  { spec, metadata }: PersistentVolume,
  cache: ReconcileContext['cache'],
): readonly ObjectKey[] {
  const { namespace, name } = spec?.claimRef ?? {};
  const named = namespace === undefined || name === undefined ? [] : [{ namespace, name }];
  const waiting = [...cache.byIndex(PersistentVolumeClaim, 'volume', metadata.name!)];
  if (spec?.claimRef === undefined) waiting.push(...cache.byIndex(PersistentVolumeClaim, 'volume', ''));
  return [...named, ...waiting.map(keyOf)];
}

export const volumeBinder = (): readonly ControllerDefinition[] => [
  defineController<PersistentVolumeClaim>({
    name: 'persistentvolume-binder',
    for: PersistentVolumeClaim,
    indexes: { volume: ({ spec }: PersistentVolumeClaim) => [spec?.volumeName ?? ''] },
    watches: [
      {
        kind: PersistentVolume,
        facts: ({ spec, status }: PersistentVolume) => [spec?.claimRef, status?.phase],
        to: claimsOf,
      },
    ],
    rights: [
      { group: '', resource: 'persistentvolumes', verbs: ['get', 'patch'] },
      { group: '', resource: 'persistentvolumes/status', verbs: ['patch'] },
      { group: '', resource: 'persistentvolumeclaims', verbs: ['patch'] },
      { group: '', resource: 'persistentvolumeclaims/status', verbs: ['patch'] },
      { group: StorageClass.group, resource: 'storageclasses', verbs: ['get'] },
    ],
    reconcile: retryStaleReads(reconcileClaim),
  }) as ControllerDefinition,
  defineController<PersistentVolume>({
    name: 'persistentvolume-phases',
    for: PersistentVolume,
    facts: ({ spec, status }) => [spec?.claimRef, status?.phase],
    watches: [
      {
        kind: PersistentVolumeClaim,
        facts: ({ metadata }) => [metadata.uid],
        to: ({ spec }: PersistentVolumeClaim) =>
          spec?.volumeName === undefined ? [] : [{ name: spec.volumeName }],
      },
    ],
    rights: [
      { group: '', resource: 'persistentvolumeclaims', verbs: ['get'] },
      { group: '', resource: 'persistentvolumes/status', verbs: ['patch'] },
    ],
    reconcile: retryStaleReads(reconcileVolume),
  }) as ControllerDefinition,
];
