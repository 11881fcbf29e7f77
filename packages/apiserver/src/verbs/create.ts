// POST of a new object: decode → admission → prepare → validate → admission → commit.

import { formatTime } from '@lapse/base/instant';
import { nameSuffix, uuid } from '@lapse/base/random';
import { alreadyExists, badRequest, internal } from '@lapse/kube/api/errors';
import { invalidError } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { clone } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import { refused } from '../access/attributes.ts';
import { checkEscalation } from '../access/escalation.ts';
import { type Call, namespaceOf, strategyContext } from '../context.ts';
import { decodeBody } from '../decode/decode.ts';
import { parseWriteOptions, type WriteOptions } from '../http/query.ts';
import { objectResponse, storedResponse } from '../http/respond.ts';
import { recordManager } from '../metadata/managedFields.ts';
import { dropRepeatedOwners } from '../metadata/owners.ts';
import { finalizerWarnings, validateKubeFinalizers, validateMeta } from '../metadata/validateMeta.ts';
import { keyOf, refusedKind, type StrategyContext, throughStorage } from '../resources/resource.ts';
import { RevisionMismatch } from '../store/store.ts';
import type { Stored } from '../store/stored.ts';

export async function create(call: Call): Promise<HttpResponse> {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  const object = decodeBody(call, options);
  matchNamespace(call, object);
  wipeSystemFields(object);
  dropRepeatedOwners(call, object, 'sent');
  const outcome = await createObject(call, object, options);
  if (outcome.kind === 'dryRun') return objectResponse(call, 201, outcome.object);
  return storedResponse(call, 201, outcome.stored);
}

/** The namespace in the body must match the URL or be absent. */
export function matchNamespace(call: Call, object: KubeObject): void {
  if (!call.resource.namespaced) {
    delete object.metadata.namespace;
    return;
  }
  const given = object.metadata.namespace ?? '';
  if (given !== '' && given !== call.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  object.metadata.namespace = call.namespace!;
}

export type CreateOutcome = { kind: 'created'; stored: Stored } | { kind: 'dryRun'; object: KubeObject };

export interface CreateOptions extends WriteOptions {
  /** The object already has its managedFields. */
  readonly tracked?: boolean;
  /** The request is an update: a name that exists is a RevisionMismatch, and the user also needs the create verb. */
  readonly mayExist?: boolean;
}

// Attempts to generate an unused name before the client gets an error.
const NAME_ATTEMPTS = 8;

export async function createObject(
  call: Call,
  object: KubeObject,
  options: CreateOptions,
): Promise<CreateOutcome> {
  const generated = !object.metadata.name && object.metadata.generateName;
  for (let attempt = 1; ; attempt++) {
    try {
      // Admission and strategies modify the object, so every attempt starts from the object that the client sent.
      return await createOnce(call, generated ? asObject(clone(asJson(object))) : object, options);
    } catch (cause) {
      if (!(cause instanceof RevisionMismatch) || options.mayExist) throw cause;
      if (!generated || attempt === NAME_ATTEMPTS) throw nameInUse(call, cause.message, object);
    }
  }
}

/** AlreadyExists; the existing object may be terminating. */
function nameInUse(call: Call, name: string, { metadata }: KubeObject): ApiError {
  const error = metadata.generateName ? generatedNameInUse(call, name) : alreadyExists(call.resource, name);
  const holder = call.core.store.getHead(call.resource.storage, keyOf(call.namespace, name));
  if (holder?.object.metadata.deletionTimestamp) {
    error.status.message = `object is being deleted: ${error.status.message}`;
  }
  return error;
}

/**
 * With generateName the client is asked to retry, even when the object had a name as well. The message names the
 * internal kind: Events are served in two groups but have one internal group.
 */
function generatedNameInUse({ resource }: Call, name: string): ApiError {
  const { group } = refusedKind(resource);
  const { message, details } = alreadyExists({ group, plural: resource.plural }, name).status;
  const text = `${message}, the server was not able to generate a unique name for the object`;
  return new ApiError(409, 'AlreadyExists', text, { ...details, retryAfterSeconds: 1 });
}

async function createOnce(call: Call, sent: KubeObject, options: CreateOptions): Promise<CreateOutcome> {
  const { core, resource } = call;
  if (options.tracked !== true) recordManager(call, options.fieldManager, sent, undefined);
  const write = { operation: 'CREATE' as const, old: undefined, dryRun: options.dryRun };
  const object = (await core.admission.mutate(call, {
    ...write,
    object: sent,
    name: sent.metadata.name ?? '',
  }))!;
  dropRepeatedOwners(call, object, 'admitted');
  // Admission must not move the object to another namespace.
  matchNamespace(call, object);
  checkEscalation(call, object, undefined);
  const context = strategyContext(call, options.dryRun);
  fillSystemFields(call, object, context);
  resource.strategy.prepareForCreate?.(object, context);
  validateNew(call, object, context);
  const name = object.metadata.name!;
  if (options.mayExist) checkMayCreate(call, call.name!);
  await core.admission.validate(call, { ...write, object, name });
  const key = keyOf(call.namespace, name);
  if (!options.dryRun) refuseVersion(object);
  if (core.store.getHead(resource.storage, key)) throw new RevisionMismatch(name);
  if (options.dryRun) return { kind: 'dryRun', object: throughStorage(resource.codec, object) };
  const change = await commitNew(call, key, object);
  return { kind: 'created', stored: change };
}

/** The update and patch verbs do not include create. */
function checkMayCreate(call: Call, name: string): void {
  const { core, user, resource, subresource = '' } = call;
  const { group, plural } = resource;
  const namespace = namespaceOf(call, name);
  const attributes = { verb: 'create', group, resource: plural, subresource, name, namespace };
  const { allowed, reason } = core.authorizer.authorize(user, attributes);
  if (!allowed) throw refused(user, attributes, reason);
}

/**
 * The store rejects a new object with a resourceVersion. Validation comes first, and a dry run does not reach this
 * check.
 */
function refuseVersion({ metadata }: KubeObject): void {
  if (/^0*[1-9][0-9]*$/.test(metadata.resourceVersion ?? ''))
    throw internal('resourceVersion should not be set on objects to be created');
}

async function commitNew(call: Call, key: string, object: KubeObject): Promise<Stored> {
  const { store } = call.core;
  delete object.metadata.resourceVersion;
  delete (object.metadata as Record<string, unknown>)['selfLink'];
  call.resource.strategy.confirmCreate?.(object);
  try {
    const change = await store.put(call.resource.storage, key, 0, call.resource.codec.toStorage(object));
    return change.next!;
  } catch (cause) {
    if (cause instanceof RevisionMismatch) throw new RevisionMismatch(object.metadata.name!);
    throw cause;
  }
}

const SYSTEM_FIELDS = [
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'uid',
  'creationTimestamp',
];

/** A POST cannot set these fields. A PUT or apply that creates can set the first two, as in kube-apiserver. */
function wipeSystemFields({ metadata }: KubeObject): void {
  for (const field of SYSTEM_FIELDS) delete (metadata as Record<string, unknown>)[field];
}

function fillSystemFields(call: Call, object: KubeObject, context: StrategyContext): void {
  const { metadata } = object;
  metadata.uid = uuid(context.random);
  metadata.creationTimestamp = formatTime(context.now);
  if (call.resource.strategy.generation) metadata.generation = 1;
  if (!metadata.name && metadata.generateName) {
    metadata.name = metadata.generateName.slice(0, 63 - 5) + nameSuffix(context.random);
  }
}

function validateNew(call: Call, object: KubeObject, context: StrategyContext): void {
  const { strategy, namespaced, custom } = call.resource;
  const { finalizers } = object.metadata;
  const meta = [
    ...validateMeta(object.metadata, namespaced, strategy.nameRule),
    ...(custom || strategy.anyFinalizer ? [] : validateKubeFinalizers(finalizers, 'metadata.finalizers')),
  ];
  const own = strategy.validate?.(object, context, meta) ?? [];
  const errors = strategy.metaLast && own.length > 0 ? own : [...meta, ...own];
  if (errors.length > 0) throw invalidError(refusedKind(call.resource), object.metadata.name ?? '', errors);
  if (custom) for (const text of finalizerWarnings(finalizers)) context.warn(text);
  for (const text of strategy.warnings?.(object, undefined) ?? []) context.warn(text);
  strategy.canonicalize?.(object);
}
