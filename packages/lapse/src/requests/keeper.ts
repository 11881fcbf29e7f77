// ObjectKeepers of requests: the keeper owns the artifacts and follows the request. An owner reference is built only
// after a read has returned the uid of the keeper.

import { plus, seconds } from '@lapse/base/instant';
import { type Kind, keyOf } from '@lapse/kube/api/kind';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import { type Outcome, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { type FollowObjectRef, ObjectKeeper } from '#api/objectKeeper';
import { Reason } from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';
import type { DirectReader } from './direct.ts';
import { type Failure, failure, failureOf } from './refusal.ts';

/** How long the objects that a keeper owns are kept. */
export type Retention =
  /** Until the request is deleted. */
  | { readonly mode: 'FollowObject' }
  /** For this time after the request is deleted: `24h`. */
  | { readonly mode: 'FollowObjectWithTTL'; readonly ttl: string };

export type Anchor =
  | { readonly kind: 'anchored'; readonly owner: OwnerReference; readonly keeper: ObjectKeeper }
  /** The uid is not known yet: retry in a second, and create nothing until then. */
  | { readonly kind: 'unknown' }
  /** Dry run: no keeper exists that could own an object. */
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

const UID_RETRY = seconds(1);

/** The keeper's uid is not known yet. No artifact is created before. */
export const waitForKeeper = (ctx: ReconcileContext): Outcome =>
  waitUntil(plus(ctx.now, UID_RETRY), 'keeper uid');

/** Compares an existing keeper of this name with the wanted one; undefined if it matches. */
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
  /** The kind of the followed request. */
  readonly of: Kind<RequestObject>;
}

/** Ensures that the keeper exists and that its uid is known. One attempt; conflicts are not retried. */
export async function ensureKeeper(
  ctx: ReconcileContext,
  { direct, of }: KeeperReads,
  wanted: ObjectKeeper,
): Promise<Anchor> {
  const key = keyOf(wanted);
  const cached = ctx.cache.get(ObjectKeeper, key);
  if (cached !== undefined) return anchorOn(cached, wanted);
  try {
    // The cache may be stale: a keeper of a deleted request would be deleted at once, and created again.
    const { namespace, name, uid } = wanted.spec!.followObjectRef!;
    const followed = await direct.get(ctx, of, { ...(namespace ? { namespace } : {}), name });
    if (followed?.metadata.uid !== uid) return { kind: 'unknown' };
    const answer = await ctx.client.create(ObjectKeeper, wanted);
    if (answer.kind === 'invalid') return failureOf(answer.error, `creating ObjectKeeper ${key.name}`);
    if (ctx.dryRun) return { kind: 'dry' };
    // The uid must come from a read, not from the response to the create.
    const live = await direct.get(ctx, ObjectKeeper, key);
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

/** The controlling owner of an artifact. */
export const controllerOf = (owners: readonly OwnerReference[] | undefined): OwnerReference | undefined =>
  owners?.find(({ controller }) => controller === true);

/** A clause for messages about an artifact: who controls it. */
export const describeController = (owner: OwnerReference | undefined): string =>
  owner === undefined
    ? 'has no controlling owner'
    : `is controlled by ${owner.kind} ${owner.name} (${owner.uid})`;
