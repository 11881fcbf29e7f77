// Simulates the external-provisioner of Deckhouse, which serves VolumeRestoreRequests: one second after a request was
// created it creates a volume and a bound claim, or does what the annotation on the request says, as the simulated CSI
// driver does. It never writes to the request. Like the real one, it reports a refusal in an Event.

import { formatMicroTime, isDue, parseTime, plus, seconds } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { KubeEvent } from '@lapse/runtime/events/build';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { scriptedFault } from '@lapse/simulation/csi/script';
import {
  ANNOTATION_KEEPER_REF,
  ANNOTATION_RESTORE_REQUEST,
  PROGRESS_REASONS,
  PROVISIONER_REFUSALS,
  READY,
} from 'lapse/api/storage/conditions';
import { VolumeRestoreRequest } from 'lapse/api/volumeRestoreRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';

export const RESTORE_SCRIPT = 'simulation.lapse.dev/restore';
const NAME = 'external-provisioner';
const SIZE = '1Gi';

async function reconcile(ctx: ReconcileContext): Promise<Outcome> {
  const request = ctx.cache.get(VolumeRestoreRequest, ctx.key);
  if (request === undefined || hasEnded(request) || request.metadata.deletionTimestamp !== undefined)
    return settled();
  const fault = scriptedFault('CreateVolume', RESTORE_SCRIPT, request.metadata.annotations?.[RESTORE_SCRIPT]);
  const at = plus(parseTime(request.metadata.creationTimestamp ?? ''), fault?.delay ?? seconds(1));
  if (!isDue(at, ctx.now)) return waitUntil(at, 'restore');
  return fault?.error === undefined ? provision(ctx, request) : refuse(ctx, request, fault.error.message);
}

const hasEnded = ({ status }: VolumeRestoreRequest): boolean =>
  status?.conditions?.some(
    ({ type, reason = '' }) => type === READY && !PROGRESS_REASONS.includes(reason),
  ) === true;

/** The Event always has the same name, so it is created once. */
async function refuse(ctx: ReconcileContext, request: VolumeRestoreRequest, note: string): Promise<Outcome> {
  const { name, namespace, uid } = request.metadata;
  await ctx.client.create(KubeEvent, {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: `${name}.${uid!.slice(0, 8)}`, namespace: namespace! },
    eventTime: formatMicroTime(ctx.now),
    reportingController: NAME,
    reportingInstance: 'simulated-controllers',
    action: 'Restore',
    reason: PROVISIONER_REFUSALS[1]!,
    regarding: {
      apiVersion: request.apiVersion,
      kind: request.kind,
      name: name!,
      namespace: namespace!,
      uid: uid!,
    },
    note,
    type: 'Warning',
  });
  return settled();
}

async function provision(ctx: ReconcileContext, request: VolumeRestoreRequest): Promise<Outcome> {
  if (!isSourceReady(ctx, request)) return waitUntil(plus(ctx.now, seconds(1)), 'source');
  const volume = volumeFor(request);
  const claim = claimFor(request, volume.metadata.name!);
  const answer = await ctx.client.create(PersistentVolumeClaim, claim);
  // Another claim has the name. The controller of the request detects this.
  if (answer.kind !== 'created') return settled();
  const { namespace, name, uid } = answer.object.metadata;
  const claimRef = { apiVersion: 'v1', kind: claim.kind, namespace: namespace!, name: name!, uid: uid! };
  await ctx.client.create(PersistentVolume, { ...volume, spec: { ...volume.spec, claimRef } });
  const bound = { status: { phase: 'Bound' } };
  const key = keyOf(answer.object);
  await ctx.client.patch(
    PersistentVolumeClaim,
    key,
    { type: 'merge', patch: bound },
    { subresource: 'status' },
  );
  return settled();
}

function isSourceReady(ctx: ReconcileContext, { spec }: VolumeRestoreRequest): boolean {
  const { kind, name = '' } = spec?.sourceRef ?? {};
  if (kind === PersistentVolume.kind) return true;
  return ctx.cache.get(VolumeSnapshotContent, { name })?.status?.readyToUse === true;
}

function volumeFor({ metadata, spec }: VolumeRestoreRequest): PersistentVolume {
  const name = `pvc-${metadata.uid}`;
  return {
    apiVersion: 'v1',
    kind: PersistentVolume.kind,
    metadata: { name },
    spec: {
      accessModes: spec?.accessModes ?? ['ReadWriteOnce'],
      capacity: { storage: SIZE },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: spec?.storageClassName ?? '',
      csi: { driver: 'simulation.lapse.dev', volumeHandle: name },
    },
  };
}

function claimFor({ metadata, spec }: VolumeRestoreRequest, volumeName: string): PersistentVolumeClaim {
  const owner = parseOwner(metadata.annotations?.[ANNOTATION_KEEPER_REF]);
  return {
    apiVersion: 'v1',
    kind: PersistentVolumeClaim.kind,
    metadata: {
      name: spec?.targetPVCName ?? '',
      namespace: (spec?.targetNamespace || metadata.namespace) ?? '',
      annotations: { [ANNOTATION_RESTORE_REQUEST]: metadata.uid! },
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      accessModes: spec?.accessModes ?? ['ReadWriteOnce'],
      resources: { requests: { storage: SIZE } },
      storageClassName: spec?.storageClassName ?? '',
      volumeName,
      ...(spec?.volumeMode === undefined ? {} : { volumeMode: spec.volumeMode }),
    },
  };
}

/** Format: `apiVersion|kind|name|uid`. */
function parseOwner(text: string | undefined): OwnerReference | undefined {
  const [apiVersion, kind, name, uid] = text?.split('|') ?? [];
  if (!apiVersion || !kind || !name || !uid) return undefined;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

const deckhouseProvisioner = (): ControllerDefinition =>
  defineController<VolumeRestoreRequest>({
    name: NAME,
    for: VolumeRestoreRequest,
    watches: [
      {
        kind: VolumeSnapshotContent,
        facts: ({ status }) => (status as VolumeSnapshotContent['status'])?.readyToUse,
        to: () => [],
      },
    ],
    rights: [
      { group: '', resource: 'persistentvolumes', verbs: ['create'] },
      { group: '', resource: 'persistentvolumeclaims', verbs: ['create'] },
      { group: '', resource: 'persistentvolumeclaims/status', verbs: ['patch'] },
      { group: 'events.k8s.io', resource: 'events', verbs: ['create'] },
    ],
    reconcile,
  }) as ControllerDefinition;

/** Simulated controllers by name. `deckhouse-provisioner` is this one. */
export function storageControllers(names: readonly string[]): ControllerDefinition[] {
  const others = names.filter((name) => name !== 'deckhouse-provisioner');
  const served = others.length < names.length ? [deckhouseProvisioner()] : [];
  return [...simulatedControllersNamed(others), ...served];
}
