// PUT, and the part of PATCH after the patch was applied: read the head, prepare, validate, commit; again when the
// head moved and the client did not insist on a version.

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
    // Who names a version has one attempt.
    make: () => (versioned ? sent : asObject(clone(asJson(sent)))),
    uid: sent.metadata.uid,
    versioned,
    createIfMissing: () => asNew(sent, options),
  };
  return updateObject(call, plan, options);
}

/** The version of what is not there says nothing, and only a dry run shows it. */
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
  /** The wanted object, made from the present one; a fresh copy each time. */
  make(old: KubeObject): KubeObject;
  /** A uid the stored object must have (409 otherwise). */
  readonly uid?: string | undefined;
  /** The client named a resourceVersion: a lost race is its conflict, not ours to retry. */
  readonly versioned: boolean;
  /** What to create when there is nothing to update and the kind, or `mayCreate`, allows that. */
  createIfMissing?(): KubeObject;
  readonly mayCreate?: boolean;
  /** `make` has set the managedFields already. */
  readonly tracked?: boolean;
  /** The endpoint shows and takes an object of another kind (`/scale`). */
  readonly other?: OtherKind;
}

// Every lost race means another write got through; a client that loses this often is better told.
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
      // Somebody else created it meanwhile: now there is something to update, or to refuse.
      if (!head && attempt < ATTEMPTS) continue;
      if (attempt === ATTEMPTS || plan.versioned) throw conflict(call.resource, call.name!, MODIFIED);
    }
  }
}

async function createMissing(call: Call, plan: UpdatePlan, options: WriteOptions): Promise<HttpResponse> {
  const { resource } = call;
  const mayCreate = plan.mayCreate ?? resource.strategy.createOnUpdate ?? false;
  if (!plan.createIfMissing || !mayCreate || call.subresource) throw notFound(resource, call.name!);
  // The store compares the uid with that of nothing.
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

/** A precondition that the store of the real server checks, in its words. */
export function storeConflict(call: Call, key: string, detail: string, root = '/registry') {
  const { plural, group } = call.resource;
  // The keys of definitions and of what they define have the group in them.
  const isPlain = !call.resource.custom && group !== 'apiextensions.k8s.io';
  const path = `${root}/${isPlain ? plural : `${group}/${plural}`}/${key}`;
  const text = `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${detail}`;
  return conflict(call.resource, key.slice(key.lastIndexOf('/') + 1), text);
}

/** An empty version is the present one where the kind allows it; another one is a conflict. */
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

/** The store refuses this, not the kind: the resource stands where refusals usually name the kind. */
function unversioned(call: Call) {
  const { group, plural } = call.resource;
  const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
  return invalidError({ group, kind: plural }, call.name!, [error]);
}

/** What a client cannot change by sending something else. */
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
  // Metadata is checked by the generic update and again by the strategy: the real server lists its causes twice.
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
  // A write that changes nothing but the time of its manager changes nothing; one that brought a link still had it when
  // the real server compares.
  const compared = hadLink ? storage : withOldTimes(storage, head.object);
  if (equal(asJson(compared), asJson(head.object))) {
    await core.store.committed(head);
    return showStored(head);
  }
  const change = await core.store.put(resource.storage, head.key, head.revision, storage);
  return showStored(change.next!);
}

/** Nobody keeps it any more; whether there was one. */
function dropSelfLink({ metadata }: KubeObject): boolean {
  const links = metadata as { selfLink?: unknown };
  const had = links.selfLink !== undefined;
  delete links.selfLink;
  return had;
}

/** The last finalizer of an object that waits for nothing else went away: now it goes too. */
function isReleased(call: Call, next: KubeObject, old: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  return (
    deletionTimestamp !== undefined &&
    (deletionGracePeriodSeconds ?? 0) === 0 &&
    (next.metadata.finalizers ?? []).length === 0 &&
    (call.resource.strategy.isReleased?.(next) ?? true)
  );
}
