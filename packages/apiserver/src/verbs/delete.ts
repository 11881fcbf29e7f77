// DELETE of one object: preconditions, propagation through finalizers, graceful deletion, removal.

import { formatTime, type Instant, instant, parseTime } from '@lapse/base/instant';
import { conflict, notFound } from '@lapse/kube/api/errors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { clone } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject, type ObjectMeta } from '@lapse/kube/api/object';
import type { Write } from '../admission/write.ts';
import { type Call, strategyContext } from '../context.ts';
import { parseDeleteOptions } from '../decode/deleteOptions.ts';
import type { DeleteOptions } from '../http/query.ts';
import { encode, objectResponse } from '../http/respond.ts';
import { keyOf, refusedKind } from '../resources/resource.ts';
import { RevisionMismatch } from '../store/store.ts';
import type { Stored } from '../store/stored.ts';
import { storeConflict } from './update.ts';

export async function deleteOne(call: Call): Promise<HttpResponse> {
  const options = parseDeleteOptions(call);
  call.warnings.push(...(call.resource.strategy.deleteWarnings?.(options) ?? []));
  const outcome = await deleteObject(call, call.namespace, call.name!, options);
  if (outcome.kind === 'removed' && !call.resource.strategy.returnDeleted) {
    return encode(200, successStatus(call, outcome.object), {
      encoding: call.negotiated.encoding,
      representation: { as: 'object' },
    });
  }
  const waiting = outcome.kind === 'kept' && options.orphanDependents === false;
  return objectResponse(call, waiting ? 202 : 200, outcome.object);
}

function successStatus(call: Call, object: KubeObject) {
  const { group, plural } = call.resource;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: call.name!, ...(group ? { group } : {}), kind: plural, uid: object.metadata.uid! },
  };
}

export type DeleteOutcome = { kind: 'removed' | 'kept'; object: KubeObject };

/**
 * Deletes or marks the object. Retries when the object changed meanwhile; each attempt checks the preconditions
 * again.
 */
export async function deleteObject(
  call: Call,
  namespace: string | undefined,
  name: string,
  options: DeleteOptions,
): Promise<DeleteOutcome> {
  const key = keyOf(namespace, name);
  for (;;) {
    const head = call.core.store.getHead(call.resource.storage, key);
    if (!head) throw notFound(call.resource, name);
    try {
      return await deleteOnce(call, head, options);
    } catch (cause) {
      if (!(cause instanceof RevisionMismatch)) throw cause;
    }
  }
}

type DeleteWrite = Write & { readonly old: KubeObject; readonly deletion: DeleteOptions };

async function deleteOnce(call: Call, head: Stored, options: DeleteOptions): Promise<DeleteOutcome> {
  const { core, resource } = call;
  const old = resource.codec.show(head);
  const name = old.metadata.name!;
  const { dryRun } = options;
  const write = { operation: 'DELETE', object: undefined, old, name, dryRun, deletion: options } as const;
  checkPreconditions(call, old, options);
  const next = editable(call, old);
  const result = decideDeletion(call, next, options);
  if (result !== 'pending') await admit(call, write);
  if (result === 'pending' || result === 'unchanged') {
    await core.store.committed(head);
    return { kind: 'kept', object: old };
  }
  if (result === 'kept') {
    if (options.dryRun) return { kind: 'kept', object: next };
    const change = await core.store.put(
      resource.storage,
      head.key,
      head.revision,
      resource.codec.toStorage(next),
    );
    return { kind: 'kept', object: resource.codec.show(change.next!) };
  }
  if (!options.dryRun) await remove(call, head, next, write);
  return { kind: 'removed', object: next };
}

/** Removes the object from the store and sets the resourceVersion of `next`, the last state of the object. */
async function remove(call: Call, head: Stored, next: KubeObject, write: DeleteWrite): Promise<void> {
  const { core, resource } = call;
  const { old } = write;
  const atOnce = isRemovedAtOnce(call, old, next);
  if (atOnce) checkReleased(call, head, old, write.deletion);
  const last = atOnce || resource.strategy.markDeleted ? head : await endGrace(call, head, next);
  if (isUpdatedFirst(call, old, next)) await admit(call, { ...write, old: resource.codec.show(last) });
  const { revision } = await core.store.remove(resource.storage, head.key, last.revision);
  // The response to an immediate removal shows the object unchanged, including finalizers that this deletion made
  // obsolete.
  if (atOnce) setFinalizers(next, finalizersOf(old));
  next.metadata.resourceVersion = String(revision);
}

async function admit(call: Call, write: Write): Promise<void> {
  // The eviction was already admitted.
  if (call.subresource !== undefined) return;
  const { admission } = call.core;
  await admission.mutate(call, write);
  await admission.validate(call, write);
}

/**
 * An object that is first updated (marked, or a finalizer removed) and then removed is admitted twice, since
 * kube-apiserver takes two steps.
 */
const isUpdatedFirst = (call: Call, old: KubeObject, next: KubeObject): boolean =>
  !call.resource.strategy.markDeleted && (!isRemovedAtOnce(call, old, next) || finalizersOf(old).length > 0);

/** Watchers see the end of the grace period before the object is deleted. */
async function endGrace({ core, resource }: Call, head: Stored, next: KubeObject): Promise<Stored> {
  const marked = resource.codec.toStorage(next);
  return (await core.store.put(resource.storage, head.key, head.revision, marked)).next!;
}

/** The removal needs no prior write: no grace period started or was shortened. */
function isRemovedAtOnce(
  { resource }: Call,
  { metadata: old }: KubeObject,
  { metadata }: KubeObject,
): boolean {
  return (
    !resource.strategy.markDeleted &&
    metadata.deletionTimestamp === old.deletionTimestamp &&
    metadata.deletionGracePeriodSeconds === old.deletionGracePeriodSeconds
  );
}

/**
 * Rejects a deletion with a resourceVersion precondition that makes the last finalizers obsolete: kube-apiserver
 * compares with the version of the object without them, which it has not stored.
 */
function checkReleased(call: Call, head: Stored, old: KubeObject, options: DeleteOptions): void {
  if (!options.resourceVersion || finalizersOf(old).length === 0) return;
  const detail = `ResourceVersion in precondition: , ResourceVersion in object meta: ${head.revision}`;
  throw storeConflict(call, head.key, detail);
}

const finalizersOf = ({ metadata }: KubeObject): string[] => metadata.finalizers ?? [];

/** Copies only the metadata, except for kinds with their own markDeleted. */
function editable({ resource }: Call, old: KubeObject): KubeObject {
  if (resource.strategy.markDeleted) return asObject(clone(asJson(old)));
  return { ...old, metadata: { ...old.metadata } };
}

function checkPreconditions(call: Call, old: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  const { metadata } = old;
  const { group, kind } = refusedKind(call.resource);
  const asKind = { group, plural: kind };
  if (uid && uid !== metadata.uid) {
    if (call.resource.strategy.markDeleted) {
      const text = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
      throw conflict(call.resource, metadata.name!, text);
    }
    const text = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(asKind, metadata.name!, text);
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    if (call.resource.strategy.markDeleted) {
      const text = `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`;
      throw conflict(call.resource, metadata.name!, text);
    }
    const text = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(asKind, metadata.name!, text);
  }
}

/** `pending`: the object is already terminating, and this DELETE changes nothing. */
type Deletion = 'removed' | 'kept' | 'unchanged' | 'pending';

/** Modifies `next` to its state after the DELETE and returns the outcome. */
function decideDeletion(call: Call, next: KubeObject, options: DeleteOptions): Deletion {
  if (call.resource.strategy.markDeleted) return decideByStrategy(call, next, options);
  const { now } = strategyContext(call, options.dryRun);
  const grace = applyGrace(call, next, options, now);
  if (grace === 'pending') return 'pending';
  const finalizers = finalizersAfter(call, next, options);
  const changed = finalizers.join() !== (next.metadata.finalizers ?? []).join();
  setFinalizers(next, finalizers);
  if (grace === 'started')
    return finalizers.length > 0 || next.metadata.deletionGracePeriodSeconds! > 0 ? 'kept' : 'removed';
  if (finalizers.length === 0) return 'removed';
  const marked = markDeleted(next, now);
  return marked || changed ? 'kept' : 'unchanged';
}

/** The same for kinds with their own markDeleted. */
function decideByStrategy(call: Call, next: KubeObject, options: DeleteOptions): Deletion {
  const { strategy } = call.resource;
  const before = next.metadata.deletionTimestamp;
  if (before && strategy.isReleased?.(next) === false) return 'pending';
  if (strategy.propagates && !before) setFinalizers(next, finalizersAfter(call, next, options));
  if (strategy.markDeleted!(next, strategyContext(call, options.dryRun)) === 'delete') return 'removed';
  return before ? 'unchanged' : 'kept';
}

/** Marks an object without graceful deletion; returns false when it was already marked. */
export function markDeleted({ metadata }: KubeObject, now: Instant): boolean {
  const first = metadata.deletionTimestamp === undefined;
  if (metadata.deletionGracePeriodSeconds === undefined && (metadata.generation ?? 0) > 0)
    metadata.generation!++;
  const changed = first || metadata.deletionGracePeriodSeconds !== 0;
  if (first || parseTime(metadata.deletionTimestamp!) > now) metadata.deletionTimestamp = formatTime(now);
  metadata.deletionGracePeriodSeconds = 0;
  return changed;
}

function setFinalizers({ metadata }: KubeObject, finalizers: string[]): void {
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
}

/** Graceful deletion (Pods): starts or shortens the grace period. `none`: the object is deleted at once. */
function applyGrace(
  call: Call,
  next: KubeObject,
  options: DeleteOptions,
  now: Instant,
): 'none' | 'started' | 'pending' {
  const { strategy } = call.resource;
  const { metadata } = next;
  if (!strategy.gracePeriod) return 'none';
  const requested = (options.gracePeriodSeconds ?? 0) < 0 ? 1 : options.gracePeriodSeconds;
  if (metadata.deletionTimestamp !== undefined) return shortenGrace(metadata, requested, now);
  const period = strategy.gracePeriod(next, requested);
  if (period === undefined) return 'none';
  metadata.deletionTimestamp = formatTime(instant(now + period * 1000));
  metadata.deletionGracePeriodSeconds = period;
  if ((metadata.generation ?? 0) > 0) metadata.generation!++;
  return 'started';
}

function shortenGrace(
  metadata: ObjectMeta,
  requested: number | undefined,
  now: Instant,
): 'none' | 'started' | 'pending' {
  const running = metadata.deletionGracePeriodSeconds ?? 0;
  if (running === 0) return 'none';
  if (requested === undefined || requested >= running) return 'pending';
  const shortened = parseTime(metadata.deletionTimestamp!) - (running - requested) * 1000;
  // The deletionTimestamp is never in the past: an elapsed grace period is shortened to the minimum.
  const past = shortened < now;
  metadata.deletionTimestamp = formatTime(past ? now : instant(shortened));
  metadata.deletionGracePeriodSeconds = past && requested > 0 ? 1 : requested;
  return 'started';
}

const GC_FINALIZERS = ['orphan', 'foregroundDeletion'];

/**
 * The finalizers that result from the propagation policy: it adds or removes orphan and foregroundDeletion and keeps
 * the others.
 */
function finalizersAfter(call: Call, { metadata }: KubeObject, options: DeleteOptions): string[] {
  const present = metadata.finalizers ?? [];
  const kept = present.filter((f) => !GC_FINALIZERS.includes(f));
  const wanted = wantedFinalizer(call, present, options);
  if (!wanted) return kept;
  return present.includes(wanted)
    ? present.filter((f) => f === wanted || !GC_FINALIZERS.includes(f))
    : [...kept, wanted];
}

function wantedFinalizer(call: Call, present: string[], options: DeleteOptions): string | undefined {
  if (call.resource.strategy.defaultPropagation === 'Unsupported') return undefined;
  if (options.propagationPolicy === 'Orphan' || options.orphanDependents === true) return 'orphan';
  if (options.propagationPolicy === 'Foreground') return 'foregroundDeletion';
  if (options.propagationPolicy === 'Background' || options.orphanDependents === false) return undefined;
  const inherited = GC_FINALIZERS.find((f) => present.includes(f));
  if (inherited) return inherited;
  return call.resource.strategy.defaultPropagation === 'Orphan' ? 'orphan' : undefined;
}
