// The anchor of ownership: artifacts are owned by a keeper, and the keeper follows the request. No owner reference is
// built before the server has said, in answer to a read, which uid the keeper has.

import { type Kind, keyOf } from '@lapse/kube/api/kind';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import type { Pass } from '@lapse/runtime/pass';
import { type FollowObjectRef, ObjectKeeper } from '#api/objectKeeper';
import { Reason } from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';
import type { DirectReader } from './direct.ts';
import { type Failure, failure, failureOf } from './refusal.ts';

/** How long what a keeper owns stays. */
export type Retention =
  /** As long as the request. */
  | { readonly mode: 'FollowObject' }
  /** And for a time after it: `24h`. */
  | { readonly mode: 'FollowObjectWithTTL'; readonly ttl: string };

export type Anchor =
  | { readonly kind: 'anchored'; readonly owner: OwnerReference; readonly keeper: ObjectKeeper }
  /** Its uid is not known yet: look again in a second, and create nothing meanwhile. */
  | { readonly kind: 'unknown' }
  /** A dry run: there is no keeper to own anything. */
  | { readonly kind: 'dry' }
  | Failure;

export function buildKeeper(name: string, request: RequestObject, retention: Retention): ObjectKeeper {
  return {
    apiVersion: apiVersionOf(ObjectKeeper),
    kind: ObjectKeeper.kind,
    metadata: { name },
    spec: { ...retention, followObjectRef: followRef(request) },
  };
}

function followRef({ apiVersion, kind, metadata }: RequestObject): FollowObjectRef {
  const { namespace = '', name = '', uid = '' } = metadata;
  if (uid === '') throw new Error('a request without uid cannot be followed');
  return { apiVersion, kind, namespace, name, uid };
}

/** What is wrong with a keeper that has our name: undefined when it is the one we would have made. */
export function keeperProblem(found: ObjectKeeper, wanted: ObjectKeeper): Failure | undefined {
  const differs = (what: string, is: unknown, should: unknown): Failure =>
    failure(
      Reason.OwnershipConflict,
      `ObjectKeeper ${wanted.metadata.name} exists with ${what} ${String(is)} instead of ${String(should)}`,
    );
  if (found.spec?.mode !== wanted.spec?.mode) return differs('mode', found.spec?.mode, wanted.spec?.mode);
  if (found.spec?.ttl !== wanted.spec?.ttl) return differs('ttl', found.spec?.ttl, wanted.spec?.ttl);
  const is = found.spec?.followObjectRef;
  const should = wanted.spec!.followObjectRef!;
  for (const field of ['uid', 'apiVersion', 'kind', 'namespace', 'name'] as const)
    if (is?.[field] !== should[field]) return differs(`followObjectRef.${field}`, is?.[field], should[field]);
  if (found.metadata.deletionTimestamp !== undefined)
    return failure(Reason.OwnershipConflict, `ObjectKeeper ${wanted.metadata.name} is being deleted`);
  return undefined;
}

export interface KeeperReads {
  readonly direct: DirectReader;
  /** The kind of the request that is followed. */
  readonly of: Kind<RequestObject>;
}

/** Makes sure that the keeper exists and that its uid is known. One attempt; conflicts are not repeated. */
export async function ensureKeeper(
  pass: Pass,
  { direct, of }: KeeperReads,
  wanted: ObjectKeeper,
): Promise<Anchor> {
  const key = keyOf(wanted);
  const cached = pass.cache.get(ObjectKeeper, key);
  if (cached !== undefined) return anchorOn(cached, wanted);
  try {
    // A keeper of a request that only a stale cache still has would be ended at once, and made again at once.
    const { namespace, name, uid } = wanted.spec!.followObjectRef!;
    const followed = await direct.get(pass, of, { ...(namespace ? { namespace } : {}), name });
    if (followed?.metadata.uid !== uid) return { kind: 'unknown' };
    const answer = await pass.client.create(ObjectKeeper, wanted);
    if (answer.kind === 'invalid') return failureOf(answer.error, `creating ObjectKeeper ${key.name}`);
    if (pass.dryRun) return { kind: 'dry' };
    // Never from the answer of the create: the barrier is a read.
    const live = await direct.get(pass, ObjectKeeper, key);
    return live === undefined ? { kind: 'unknown' } : anchorOn(live, wanted);
  } catch (error) {
    return failureOf(error, `creating ObjectKeeper ${key.name}`);
  }
}

function anchorOn(found: ObjectKeeper, wanted: ObjectKeeper): Anchor {
  const problem = keeperProblem(found, wanted);
  if (problem !== undefined) return problem;
  const { uid, name } = found.metadata;
  if (!uid || !name) return { kind: 'unknown' };
  const { apiVersion, kind } = wanted;
  return {
    kind: 'anchored',
    keeper: found,
    owner: { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true },
  };
}

/** The single owner that may decide about an artifact. */
export const controllerOf = (owners: readonly OwnerReference[] | undefined): OwnerReference | undefined =>
  owners?.find(({ controller }) => controller === true);
