// Determines the state of the object that a keeper follows. A watch shows that it exists. Only a live read shows that it
// is gone, and only if its CRD did not change: an object that disappeared together with its kind may come back.

import { type Kind, metadataOf, type ObjectKey, type PartialObject } from '@lapse/kube/api/kind';
import type { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { ApiError } from '@lapse/kube/api/status';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { DynamicView, ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { ObjectKeeper } from '#api/objectKeeper';
import { KeeperReason } from '#api/storage/conditions';
import type { CrdReader } from './crdReader.ts';
import { computeOrder, type Followed, type Rule } from './decide.ts';

export type FollowRule = Extract<Rule, { kind: 'follow' }>;

export interface Found {
  readonly followed: Followed;
  /** No watch reports changes. */
  readonly blind: boolean;
}

const unclear = (reason: KeeperReason, message: string): Followed => ({ kind: 'unclear', reason, message });
const EXISTS: Followed = { kind: 'exists' };

export interface GatherOptions {
  readonly crds: CrdReader;
  /** Set: only this namespace is watched. */
  readonly namespace?: string;
}

export async function getFollowed(
  ctx: ReconcileContext,
  rule: FollowRule,
  keeper: ObjectKeeper,
  options: GatherOptions,
): Promise<Found> {
  const { ref } = rule;
  const served = await findKind(ctx, rule);
  if (served === undefined) {
    ctx.dynamic.declare([]);
    const message = `${ref.apiVersion} ${ref.kind} is not served`;
    return { followed: unclear(KeeperReason.KindNotServed, message), blind: true };
  }
  if (served.namespaced && ref.namespace === '') {
    ctx.dynamic.declare([]);
    const message = `${ref.kind} is namespaced; set spec.followObjectRef.namespace`;
    return { followed: unclear(KeeperReason.LookupRefused, message), blind: true };
  }
  const kind = metadataOf(served);
  const key: ObjectKey = served.namespaced
    ? { namespace: ref.namespace, name: ref.name }
    : { name: ref.name };
  const view = watch(ctx, kind, key, options);
  const blind = view === undefined || view.status.problem !== undefined;
  const question: Question = { ctx, kind, key, rule, keeper };
  const seen = view?.status.synced && !blind && view.reader.get(key)?.metadata.uid === ref.uid;
  const followed = seen ? EXISTS : await confirm(question, options.crds);
  // Only used to recognize a new CRD later; without it the creation times are compared.
  if (followed.kind === 'exists' && mayHaveCrd(kind))
    await options.crds.note(ctx.client, crdNameOf(kind)).catch(() => {});
  return { followed, blind };
}

/** Looks for the named version first, then for any other: a version may be removed while its objects still exist. */
async function findKind(
  ctx: ReconcileContext,
  { ref, group, version }: FollowRule,
): Promise<ServedKind | undefined> {
  const { discovery } = ctx.client;
  const query = { group, kind: ref.kind };
  return (await discovery.find({ ...query, version })) ?? discovery.find(query);
}

/** Whether the kind may have a CRD: groups without a dot are built in. */
export const mayHaveCrd = ({ group }: Kind): boolean => group.includes('.');
export const crdNameOf = ({ resource, group }: Kind): string => `${resource}.${group}`;

/** One watch per kind, regardless of the number of keepers. */
function watch(
  ctx: ReconcileContext,
  kind: Kind<PartialObject>,
  key: ObjectKey,
  { namespace }: GatherOptions,
): DynamicView | undefined {
  const outside = namespace !== undefined && key.namespace !== namespace;
  const source = { kind, ...(namespace === undefined ? {} : { namespace }) };
  return ctx.dynamic.declare(outside ? [] : [source])[0];
}

interface Question {
  readonly ctx: ReconcileContext;
  readonly kind: Kind<PartialObject>;
  readonly key: ObjectKey;
  readonly rule: FollowRule;
  readonly keeper: ObjectKeeper;
}

async function confirm(question: Question, crds: CrdReader): Promise<Followed> {
  const { rule } = question;
  try {
    const live = await getLive(question);
    if (live !== undefined) return isFollowed(live, rule);
    return await confirmGone(question, crds);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code >= 500 || error.code === 429) throw error;
    // A 404 that does not name the object: the kind is no longer served, at least in this version. That answer also
    // invalidates discovery, so the next reconcile looks for other versions.
    if (error.code === 404)
      return unclear(KeeperReason.KindNotServed, `${rule.ref.apiVersion} ${rule.ref.kind} is not served`);
    return unclear(KeeperReason.LookupRefused, `the followed object cannot be read: ${error.message}`);
  }
}

const getLive = ({ ctx, kind, key }: Question): Promise<PartialObject | undefined> =>
  ctx.client.get(kind, key);

const isFollowed = (live: PartialObject, { ref }: FollowRule): Followed =>
  live.metadata.uid === ref.uid
    ? EXISTS
    : { kind: 'lost', why: `another ${ref.kind} has the name ${ref.name} (uid ${live.metadata.uid})` };

/** The API server reports that the object does not exist. This counts unless the CRD was deleted or recreated. */
async function confirmGone(question: Question, crds: CrdReader): Promise<Followed> {
  const { ctx, kind, rule, keeper } = question;
  const gone: Followed = { kind: 'lost', why: `${rule.ref.kind} ${rule.ref.name} does not exist any more` };
  if (!mayHaveCrd(kind)) return gone;
  const crd = await crds.get(ctx.client, crdNameOf(kind));
  if (crd === undefined) {
    // The kind is built in or aggregated, or its CRD was just deleted. In the last case this read fails.
    const live = await getLive(question);
    return live === undefined ? gone : isFollowed(live, rule);
  }
  if (crd.metadata.deletionTimestamp !== undefined)
    return unclear(KeeperReason.KindNotServed, `the CRD of ${kind.kind} is being deleted`);
  if (isYounger(crd, keeper, crds))
    return unclear(
      KeeperReason.KindRecreated,
      `the CRD of ${kind.kind} was recreated at ${crd.metadata.creationTimestamp}, after this keeper was created; delete the keeper if the object is gone`,
    );
  return gone;
}

/** Timestamps have whole seconds: within the same second, the uids that this process saw decide. */
function isYounger(crd: CustomResourceDefinition, keeper: ObjectKeeper, crds: CrdReader): boolean {
  const order = computeOrder(crd, keeper);
  return order === 'after' || (order === 'same second' && crds.isAnother(crd));
}
