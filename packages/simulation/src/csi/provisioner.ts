// Simulates external-provisioner v6 beside a CSI driver: creates a volume for each claim that the volume binder assigned to
// the driver, from a snapshot if the claim names one, and deletes volumes whose reclaim policy is Delete.

import { parseQuantity, quantityAsNumber } from '@lapse/base/quantity';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { CsiDriver, CsiVolume } from './driver.ts';
import { PROVISIONED_BY, PROVISIONER_FINALIZER, PROVISIONER_SOURCE, STORAGE_PROVISIONER } from './names.ts';
import { Retries } from './retries.ts';
import { scriptedFault, VOLUME_SCRIPT } from './script.ts';
import { addFinalizer, hasFinalizer, removeFinalizers, retryStaleReads } from './writes.ts';

type Source =
  | { readonly kind: 'none' }
  | { readonly kind: 'snapshot'; readonly snapshot: VolumeSnapshot; readonly handle: string }
  | { readonly kind: 'problem'; readonly problem: string };

/** The driver that the volume binder assigned to the claim; empty if none. */
const driverOf = ({ annotations }: ObjectMeta): string => annotations?.[STORAGE_PROVISIONER] ?? '';

const sizeOf = (quantity: string | undefined): number => {
  const parsed = parseQuantity(quantity ?? '0');
  return 'quantity' in parsed ? quantityAsNumber(parsed.quantity) : 0;
};

class Provisioner {
  readonly #driver: CsiDriver;
  readonly #retries = new Retries();
  /** Claims whose attempt is running: the Event was emitted already. */
  readonly #running = new Set<string>();

  constructor(driver: CsiDriver) {
    this.#driver = driver;
  }

  async reconcile(ctx: ReconcileContext): Promise<Outcome> {
    const claim = ctx.cache.get(PersistentVolumeClaim, ctx.key);
    if (claim === undefined || !this.#isOurs(claim)) return settled();
    const uid = claim.metadata.uid!;
    if (!this.#running.has(uid)) this.#report(ctx, claim, 'Provisioning');
    this.#running.delete(uid);
    const source = await sourceOf(ctx, claim);
    if (source.kind === 'problem') return this.#fail(ctx, claim, source.problem);
    if (source.kind === 'snapshot')
      await addFinalizer(ctx, VolumeSnapshot, source.snapshot, PROVISIONER_SOURCE);
    const storageClass = await ctx.client.get(StorageClass, { name: claim.spec?.storageClassName ?? '' });
    const script = storageClass?.metadata.annotations?.[VOLUME_SCRIPT];
    const fault = scriptedFault('CreateVolume', VOLUME_SCRIPT, script);
    const reply = this.#driver.createVolume(
      {
        name: `pvc-${uid}`,
        size: sizeOf(claim.spec?.resources?.requests?.storage),
        ...(source.kind === 'snapshot' ? { from: source.handle } : {}),
        ...(fault === undefined ? {} : { fault }),
      },
      ctx.now,
    );
    if (reply.kind === 'running') {
      this.#running.add(uid);
      return waitUntil(reply.until, 'CSI call');
    }
    if (reply.kind === 'error')
      return this.#fail(ctx, claim, `rpc error: code = ${reply.code} desc = ${reply.message}`);
    this.#retries.forget(uid);
    if (source.kind === 'snapshot') await this.#release(ctx, source.snapshot);
    await this.#create(ctx, claim, reply.value, storageClass?.reclaimPolicy ?? 'Delete');
    return settled();
  }

  #isOurs({ metadata, spec }: PersistentVolumeClaim): boolean {
    return (
      this.#driver.serves(driverOf(metadata)) &&
      spec?.volumeName === undefined &&
      metadata.deletionTimestamp === undefined
    );
  }

  async #release(ctx: ReconcileContext, { metadata }: VolumeSnapshot): Promise<void> {
    const { namespace, name } = metadata;
    const live = await ctx.client.get(VolumeSnapshot, { namespace: namespace!, name: name! });
    if (live !== undefined) await removeFinalizers(ctx, VolumeSnapshot, live, PROVISIONER_SOURCE);
  }

  async #create(
    ctx: ReconcileContext,
    claim: PersistentVolumeClaim,
    volume: CsiVolume,
    reclaimPolicy: string,
  ): Promise<void> {
    const { namespace, name, uid, resourceVersion } = claim.metadata;
    const driver = driverOf(claim.metadata);
    await ctx.client.create(PersistentVolume, {
      apiVersion: 'v1',
      kind: PersistentVolume.kind,
      metadata: {
        name: `pvc-${uid}`,
        annotations: {
          [PROVISIONED_BY]: driver,
          'volume.kubernetes.io/provisioner-deletion-secret-name': '',
          'volume.kubernetes.io/provisioner-deletion-secret-namespace': '',
        },
        finalizers: [PROVISIONER_FINALIZER],
      },
      spec: {
        accessModes: claim.spec?.accessModes ?? ['ReadWriteOnce'],
        capacity: { storage: claim.spec?.resources?.requests?.storage ?? '1Gi' },
        csi: { driver, volumeHandle: volume.handle, fsType: 'ext4' },
        claimRef: {
          apiVersion: 'v1',
          kind: claim.kind,
          namespace: namespace!,
          name: name!,
          uid: uid!,
          resourceVersion: resourceVersion!,
        },
        persistentVolumeReclaimPolicy: reclaimPolicy,
        storageClassName: claim.spec?.storageClassName ?? '',
        volumeMode: claim.spec?.volumeMode ?? 'Filesystem',
      },
    });
    this.#report(ctx, claim, 'ProvisioningSucceeded');
  }

  #fail(ctx: ReconcileContext, claim: PersistentVolumeClaim, note: string): Outcome {
    ctx.event(claim, { type: 'Warning', reason: 'ProvisioningFailed', action: 'Provision', note });
    return waitUntil(this.#retries.failed(claim.metadata.uid!, ctx.now), 'retry');
  }

  #report(ctx: ReconcileContext, claim: PersistentVolumeClaim, reason: keyof typeof NOTES): void {
    ctx.event(claim, { type: 'Normal', reason, action: 'Provision', note: NOTES[reason](claim) });
  }
}

const NOTES = {
  Provisioning: ({ metadata }: PersistentVolumeClaim) =>
    `External provisioner is provisioning volume for claim "${metadata.namespace}/${metadata.name}"`,
  ProvisioningSucceeded: ({ metadata }: PersistentVolumeClaim) =>
    `Successfully provisioned volume pvc-${metadata.uid}`,
};

/** The snapshot that the claim asks for. */
async function sourceOf(ctx: ReconcileContext, { metadata, spec }: PersistentVolumeClaim): Promise<Source> {
  const { kind, name = '' } = spec?.dataSource ?? spec?.dataSourceRef ?? {};
  if (kind !== VolumeSnapshot.kind) return { kind: 'none' };
  const because = (problem: string): Source => ({
    kind: 'problem',
    problem: `error getting handle for DataSource Type VolumeSnapshot by Name ${name}: ${problem}`,
  });
  const snapshot = await ctx.client.get(VolumeSnapshot, { namespace: metadata.namespace!, name });
  if (snapshot === undefined)
    return because(
      `error getting snapshot ${name} from api server: volumesnapshots.snapshot.storage.k8s.io "${name}" not found`,
    );
  const contentName = snapshot.status?.boundVolumeSnapshotContentName ?? '';
  const content = await ctx.client.get(VolumeSnapshotContent, { name: contentName });
  const handle = content?.status?.snapshotHandle;
  if (snapshot.status?.readyToUse !== true || handle === undefined)
    return because(`snapshot ${name} is not Ready`);
  const wanted = sizeOf(spec?.resources?.requests?.storage);
  const least = content?.status?.restoreSize ?? 0;
  return wanted < least
    ? because(
        `requested volume size ${wanted} is less than the size ${least} for the source snapshot ${name}`,
      )
    : { kind: 'snapshot', snapshot, handle };
}

/** Deletes the volume in the storage system and its object when the claim is gone. Releases volumes that are retained. */
const reclaim =
  (driver: CsiDriver, retries: Retries) =>
  async (ctx: ReconcileContext): Promise<Outcome> => {
    const volume = ctx.cache.get(PersistentVolume, ctx.key);
    if (volume?.spec?.csi === undefined || !driver.serves(volume.spec.csi.driver)) return settled();
    if (!hasFinalizer(volume, PROVISIONER_FINALIZER)) return settled();
    if (volume.spec.persistentVolumeReclaimPolicy !== 'Delete') {
      await removeFinalizers(ctx, PersistentVolume, volume, PROVISIONER_FINALIZER);
      return settled();
    }
    if (volume.status?.phase !== 'Released') return settled();
    const reply = driver.deleteVolume(volume.spec.csi.volumeHandle, ctx.now);
    if (reply.kind === 'running') return waitUntil(reply.until, 'CSI call');
    const name = volume.metadata.name!;
    if (reply.kind === 'error') {
      const note = `rpc error: code = ${reply.code} desc = ${reply.message}`;
      ctx.event(volume, { type: 'Warning', reason: 'VolumeFailedDelete', action: 'Delete', note });
      return waitUntil(retries.failed(name, ctx.now), 'retry');
    }
    retries.forget(name);
    await deleteObject(ctx, volume);
    return settled();
  };

async function deleteObject(ctx: ReconcileContext, volume: PersistentVolume): Promise<void> {
  if (volume.metadata.deletionTimestamp === undefined)
    await ctx.client.delete(PersistentVolume, keyOf(volume));
  const live = await ctx.client.get(PersistentVolume, keyOf(volume));
  if (live !== undefined) await removeFinalizers(ctx, PersistentVolume, live, PROVISIONER_FINALIZER);
}

const get = (kind: Kind, verbs: readonly string[] = ['get']) => ({
  group: kind.group,
  resource: kind.resource,
  verbs,
});

export function csiProvisioner(driver: CsiDriver): readonly ControllerDefinition[] {
  const provisioner = new Provisioner(driver);
  return [
    defineController<PersistentVolumeClaim>({
      name: 'csi-provisioner',
      for: PersistentVolumeClaim,
      facts: ({ metadata, spec }) => [
        metadata.annotations?.[STORAGE_PROVISIONER],
        spec?.volumeName,
        metadata.deletionTimestamp,
      ],
      rights: [
        get(StorageClass),
        get(VolumeSnapshot, ['get', 'patch']),
        get(VolumeSnapshotContent),
        get(PersistentVolume, ['create', 'patch']),
      ],
      reconcile: retryStaleReads((ctx) => provisioner.reconcile(ctx)),
    }) as ControllerDefinition,
    defineController<PersistentVolume>({
      name: 'csi-provisioner-reclaim',
      for: PersistentVolume,
      facts: ({ metadata, spec, status }) => [
        spec?.persistentVolumeReclaimPolicy,
        status?.phase,
        metadata.deletionTimestamp,
      ],
      rights: [get(PersistentVolume, ['get', 'delete', 'patch'])],
      reconcile: retryStaleReads(reclaim(driver, new Retries())),
    }) as ControllerDefinition,
  ];
}
