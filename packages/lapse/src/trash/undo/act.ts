// Carries out an undo in order. Owner references get the uids of the restored owners.

import type { Kind } from '@lapse/kube/api/kind';
import { type KubeObject, type OwnerReference, parseApiVersion } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { MANAGER, type UndoClient, type UndoStep } from './plan.ts';
import { RESTORED_AT } from './prepare.ts';

export type UndoResult =
  | { readonly kind: 'created' | 'replaced'; readonly what: string; readonly notes: readonly string[] }
  | { readonly kind: 'failed'; readonly what: string; readonly because: string };

type Acting = Extract<UndoStep, { kind: 'create' | 'replace' }>;

/** Continues after a failure: the objects do not depend on each other, except by owner references. */
export async function* carryOutUndo(
  client: UndoClient,
  steps: readonly UndoStep[],
): AsyncGenerator<UndoResult, void> {
  /** The new uid of each restored object, by its old one. */
  const uids = new Map<string | undefined, string>();
  for (const step of steps) {
    const old = step.record.object.metadata.uid;
    if (step.kind === 'exists') uids.set(old, step.live.metadata.uid ?? '');
    if (step.kind !== 'create' && step.kind !== 'replace') continue;
    try {
      const { owners, notes } = await resolveOwners(client, step, uids);
      const restored = await write(client, step, owners);
      uids.set(old, restored.metadata.uid ?? '');
      yield { kind: step.kind === 'create' ? 'created' : 'replaced', what: step.what, notes };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      yield { kind: 'failed', what: step.what, because: error.message };
    }
  }
}

async function write(
  client: UndoClient,
  step: Acting,
  ownerReferences: OwnerReference[],
): Promise<KubeObject> {
  const { object, served } = step;
  const owned = ownerReferences.length === 0 ? {} : { ownerReferences };
  const whole = { ...object, metadata: { ...object.metadata, ...owned } };
  if (step.kind === 'create') {
    const answer = await client.create(served as Kind, whole, { fieldManager: MANAGER });
    if (answer.kind === 'created') return answer.object;
    throw answer.error;
  }
  // The uid and the version of the comparison: an object that changed since is not overwritten.
  const { uid, resourceVersion } = step.live.metadata;
  const versioned = {
    ...whole,
    metadata: { ...whole.metadata, uid, resourceVersion } as KubeObject['metadata'],
  };
  const answer = await client.update(served as Kind, versioned, { fieldManager: MANAGER });
  if (answer.kind === 'updated') return answer.object;
  throw answer.error;
}

/** An owner that is neither restored nor exists is dropped: the garbage collector would delete the object at once. */
async function resolveOwners(
  client: UndoClient,
  { owners, object }: Acting,
  uids: ReadonlyMap<string | undefined, string>,
): Promise<{ owners: OwnerReference[]; notes: string[] }> {
  const kept: OwnerReference[] = [];
  const notes: string[] = [];
  for (const owner of owners) {
    const uid = uids.get(owner.uid) ?? (await findOwner(client, owner, object.metadata.namespace));
    if (uid === undefined) notes.push(`its owner ${owner.kind} ${owner.name} does not exist and is removed`);
    else kept.push({ ...owner, uid });
  }
  return { owners: kept, notes };
}

/** The uid of the owner if it exists, or of an object that was restored in its place. */
async function findOwner(
  client: UndoClient,
  owner: OwnerReference,
  namespace: string | undefined,
): Promise<string | undefined> {
  const { group, version } = parseApiVersion(owner.apiVersion) ?? { group: '', version: '' };
  const served = await client.discovery.find({ group, version, kind: owner.kind });
  if (served === undefined) return undefined;
  const place = served.namespaced && namespace !== undefined ? { namespace } : {};
  const live = await client.get(served as Kind, { ...place, name: owner.name });
  const isOwner = live?.metadata.uid === owner.uid || live?.metadata.annotations?.[RESTORED_AT] !== undefined;
  return isOwner ? live?.metadata.uid : undefined;
}
