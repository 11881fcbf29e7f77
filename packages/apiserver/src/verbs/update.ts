// PUT, and PATCH after the patch was applied: read the head, prepare, validate, commit. Retries when the head changed
// and the client did not send a resourceVersion.

import { badRequest, conflict, internal, MODIFIED, notFound } from '@lapse/kube/api/errors';
import { invalid, invalidError } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { clone, equal, type Json } from '@lapse/kube/api/json';
import { checkPathSegment } from '@lapse/kube/api/names';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { checkEscalation } from '../access/escalation.ts';
import { type Call, strategyContext } from '../context.ts';
import { decodeBody } from '../decode/decode.ts';
import { parseWriteOptions, type WriteOptions } from '../http/query.ts';
import { objectResponse, storedResponse } from '../http/respond.ts';
import { recordManager, withOldTimes } from '../metadata/managedFields.ts';
import { dropRepeatedOwners } from '../metadata/owners.ts';
import {
  finalizerWarnings,
  validateKubeFinalizers,
  validateMeta,
  validateMetaUpdate,
} from '../metadata/validateMeta.ts';
import {
  keyOf,
  refusedKind,
  type StrategyContext,
  throughStorage,
  type UpdateStrategy,
} from '../resources/resource.ts';
import { RevisionMismatch } from '../store/store.ts';
import type { Stored } from '../store/stored.ts';
import { createObject, matchNamespace } from './create.ts';
import { asShown, mutated, type OtherKind } from './otherKind.ts';

export async function update(call: Call): Promise<HttpResponse> {
  const options = parseWriteOptions(call.query, 'UpdateOptions');
  const sent = decodeBody(call, options);
  matchNamespace(call, sent);
  matchName(call, sent);
  dropRepeatedOwners(call, sent, 'sent');
  const versioned = Boolean(sent.metadata.resourceVersion);
  const plan: UpdatePlan = {
    // A request with a resourceVersion has one attempt.
    make: () => (versioned ? sent : asObject(clone(asJson(sent)))),
    uid: sent.metadata.uid,
    versioned,
    createIfMissing: () => asNew(sent, options),
  };
  return updateObject(call, plan, options);
}

/** The resourceVersion of a missing object has no meaning; only a dry run returns it. */
function asNew(sent: KubeObject, { dryRun }: WriteOptions): KubeObject {
  const copy = asObject(clone(asJson(sent)));
  if (!dryRun) copy.metadata.resourceVersion = '';
  return copy;
}

export function matchName(call: Call, object: KubeObject): void {
  const name = object.metadata.name ?? '';
  if (name === '') {
    throw badRequest(
      `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (name !== call.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`);
  }
}

export interface UpdatePlan {
  /** Returns the wanted object, made from the current one; a fresh copy on each call. */
  make(old: KubeObject): KubeObject;
  /** The uid that the stored object must have (409 otherwise). */
  readonly uid?: string | undefined;
  /** The client sent a resourceVersion: a lost race is a conflict for the client and is not retried. */
  readonly versioned: boolean;
  /** The object to create when it does not exist and the kind or `mayCreate` allows it. */
  createIfMissing?(): KubeObject;
  readonly mayCreate?: boolean;
  /** `make` already set the managedFields. */
  readonly tracked?: boolean;
  /** The endpoint shows and accepts an object of another kind (`/scale`). */
  readonly other?: OtherKind;
}

// Every lost race means that another write succeeded. After this many the client gets a conflict.
const ATTEMPTS = 64;

export async function updateObject(
  call: Call,
  plan: UpdatePlan,
  options: WriteOptions,
): Promise<HttpResponse> {
  const key = keyOf(call.namespace, call.name!);
  for (let attempt = 1; ; attempt++) {
    const head = call.core.store.getHead(call.resource.storage, key);
    try {
      return await (head ? updateOnce(call, plan, head, options) : createMissing(call, plan, options));
    } catch (cause) {
      if (!(cause instanceof RevisionMismatch)) throw cause;
      // Without a head another client created the object meanwhile: retry as an update.
      const mayRetry = !head || !plan.versioned;
      if (!mayRetry || attempt === ATTEMPTS) throw conflict(call.resource, call.name!, MODIFIED);
    }
  }
}

async function createMissing(call: Call, plan: UpdatePlan, options: WriteOptions): Promise<HttpResponse> {
  const { resource } = call;
  const mayCreate = plan.mayCreate ?? resource.strategy.createOnUpdate ?? false;
  if (!plan.createIfMissing || !mayCreate || call.subresource) throw notFound(resource, call.name!);
  // The store compares the uid with an empty one.
  if (plan.uid) throw wrongUid(call, plan.uid, '', options.dryRun);
  const outcome = await createObject(call, plan.createIfMissing(), {
    ...options,
    tracked: plan.tracked ?? false,
    mayExist: true,
  });
  if (outcome.kind === 'dryRun') return objectResponse(call, 201, outcome.object);
  return storedResponse(call, 201, outcome.stored);
}

async function updateOnce(
  call: Call,
  plan: UpdatePlan,
  head: Stored,
  options: WriteOptions,
): Promise<HttpResponse> {
  const { core, resource } = call;
  const old = resource.codec.show(head);
  if (plan.uid && plan.uid !== old.metadata.uid)
    throw wrongUid(call, plan.uid, old.metadata.uid ?? '', options.dryRun);
  let next = plan.make(old);
  const write = { operation: 'UPDATE' as const, old, name: call.name!, dryRun: options.dryRun };
  const context = strategyContext(call, options.dryRun);
  if (plan.tracked !== true) recordManager(call, options.fieldManager, next, old);
  next = await mutated(call, plan.other, { ...write, object: next });
  dropRepeatedOwners(call, next, 'admitted');
  matchNamespace(call, next);
  checkEscalation(call, next, old);
  checkVersion(call, next, head);
  const strategy = strategyOf(call);
  prepareMeta(next, old);
  strategy.prepareForUpdate?.(next, old, context);
  bumpGeneration(call, next, old);
  validateUpdate(call, strategy, { next, old, context });
  await core.admission.validate(call, asShown(plan.other, { ...write, object: next }));
  return commitUpdate(call, { head, next, plan, dryRun: options.dryRun });
}

function strategyOf(call: Call): UpdateStrategy {
  const { strategy } = call.resource;
  return call.subresource ? (strategy.subresources?.[call.subresource] ?? {}) : strategy;
}

function wrongUid(call: Call, uid: string, present: string, dryRun: boolean) {
  const key = keyOf(call.namespace, call.name!);
  return storeConflict(
    call,
    key,
    `UID in precondition: ${uid}, UID in object meta: ${present}`,
    dryRun ? '' : '/registry',
  );
}

/** A failed precondition in the store, with the message of kube-apiserver. */
export function storeConflict(call: Call, key: string, detail: string, root = '/registry') {
  const { plural, group } = call.resource;
  // The keys of CRDs and custom resources contain the group.
  const isPlain = !call.resource.custom && group !== 'apiextensions.k8s.io';
  const path = `${root}/${isPlain ? plural : `${group}/${plural}`}/${key}`;
  const text = `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${detail}`;
  return conflict(call.resource, key.slice(key.lastIndexOf('/') + 1), text);
}

/** Without a resourceVersion the current one is used, where the kind allows it. Any other version is a conflict. */
function checkVersion(call: Call, next: KubeObject, head: Stored): void {
  const wanted = next.metadata.resourceVersion ?? '';
  if (wanted === '' || wanted === '0') {
    if (call.resource.strategy.unconditionalUpdate === false) throw unversioned(call);
    next.metadata.resourceVersion = String(head.revision);
    return;
  }
  if (!/^[0-9]+$/.test(wanted)) {
    throw internal(`strconv.ParseUint: parsing "${wanted}": invalid syntax`);
  }
  if (wanted !== String(head.revision)) throw conflict(call.resource, call.name!, MODIFIED);
}

/** The store rejects this, not the kind: the message has the resource where others have the kind. */
function unversioned(call: Call) {
  const { group, plural } = call.resource;
  const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
  return invalidError({ group, kind: plural }, call.name!, [error]);
}

/** Restores the metadata that a client cannot change. */
function prepareMeta(next: KubeObject, old: KubeObject): void {
  const to = next.metadata as Record<string, unknown>;
  const from = old.metadata as Record<string, unknown>;
  const keep = (field: string) => {
    if (from[field] === undefined) delete to[field];
    else to[field] = from[field];
  };
  keep('generation');
  keep('creationTimestamp');
  if (!to['uid']) keep('uid');
  if (from['deletionTimestamp'] !== undefined) keep('deletionTimestamp');
  if (from['deletionGracePeriodSeconds'] !== undefined && to['deletionGracePeriodSeconds'] === undefined) {
    keep('deletionGracePeriodSeconds');
  }
}

function bumpGeneration(call: Call, next: KubeObject, old: KubeObject): void {
  if (!call.resource.strategy.generation) return;
  const strip = ({ metadata: _m, status: _s, ...rest }: KubeObject) => rest as unknown as Json;
  if (!equal(strip(next), strip(old))) next.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function validateUpdate(
  call: Call,
  strategy: UpdateStrategy,
  { next, old, context }: { next: KubeObject; old: KubeObject; context: StrategyContext },
): void {
  // The generic update and the strategy both validate metadata, so kube-apiserver lists these causes twice.
  const { custom, namespaced, strategy: kind } = call.resource;
  const { finalizers } = next.metadata;
  const meta = validateMetaUpdate(next.metadata, old.metadata);
  const kube = custom || kind.anyFinalizer ? [] : validateKubeFinalizers(finalizers, 'metadata.finalizers');
  const common = [
    ...validateMeta(next.metadata, namespaced, checkPathSegment),
    ...meta,
    ...(strategy.validatesMeta ? [] : [...meta, ...kube]),
  ];
  const errors = [...common, ...(strategy.validateUpdate?.(next, old, context, common) ?? [])];
  if (errors.length > 0) throw invalidError(refusedKind(call.resource), call.name!, errors);
  const fresh = (finalizers ?? []).filter((f) => !old.metadata.finalizers?.includes(f));
  if (custom) for (const text of finalizerWarnings(fresh)) context.warn(text);
  for (const text of strategy.warnings?.(next, old) ?? []) context.warn(text);
  strategy.canonicalize?.(next);
}

interface Commit {
  readonly head: Stored;
  readonly next: KubeObject;
  readonly plan: UpdatePlan;
  readonly dryRun: boolean;
}

async function commitUpdate(call: Call, { head, next, plan, dryRun }: Commit): Promise<HttpResponse> {
  const { core, resource } = call;
  const show = (object: KubeObject) => objectResponse(call, 200, plan.other?.show(object) ?? object);
  const showStored = (stored: Stored) =>
    plan.other ? show(resource.codec.show(stored)) : storedResponse(call, 200, stored);
  next.metadata.resourceVersion = String(head.revision);
  if (dryRun) return show(throughStorage(resource.codec, next));
  const storage = resource.codec.toStorage(next);
  const hadLink = dropSelfLink(storage);
  if (isReleased(call, next, head.object)) {
    await core.store.remove(resource.storage, head.key, head.revision);
    return show(next);
  }
  // A write that changes only the time of its manager is a no-op. An object sent with a selfLink still has it when
  // kube-apiserver compares, so it is a change.
  const compared = hadLink ? storage : withOldTimes(storage, head.object);
  if (equal(asJson(compared), asJson(head.object))) {
    await core.store.committed(head);
    return showStored(head);
  }
  const change = await core.store.put(resource.storage, head.key, head.revision, storage);
  return showStored(change.next!);
}

/** Removes the deprecated selfLink; returns whether it was set. */
function dropSelfLink({ metadata }: KubeObject): boolean {
  const links = metadata as { selfLink?: unknown };
  const had = links.selfLink !== undefined;
  delete links.selfLink;
  return had;
}

/** The update removed the last finalizer of a terminating object with nothing else to wait for: it is deleted now. */
function isReleased(call: Call, next: KubeObject, old: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  return (
    deletionTimestamp !== undefined &&
    (deletionGracePeriodSeconds ?? 0) === 0 &&
    (next.metadata.finalizers ?? []).length === 0 &&
    (call.resource.strategy.isReleased?.(next) ?? true)
  );
}
