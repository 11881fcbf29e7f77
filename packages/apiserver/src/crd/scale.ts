// The scale subresource: replicas and selector of an object, shown and written as an autoscaling/v1 Scale.

import { badRequest, internal, internalError, notFound } from '@lapse/kube/api/errors';
import { invalid, invalidError } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { DecodeError, decodeTyped } from '#schema/typed';
import type { Call } from '../context.ts';
import { builtinTable } from '../data/tables.ts';
import { bodyFormat, parseBody } from '../decode/body.ts';
import { BodyError } from '../decode/parsedBody.ts';
import { parseWriteOptions, type WriteOptions } from '../http/query.ts';
import { objectResponse } from '../http/respond.ts';
import { type CustomScale, keyOf } from '../resources/resource.ts';
import { managedScale, recordScaleManager, scaleAsEndpoint } from '../resources/scaleManagers.ts';
import { codecOf } from '../strategies/subresource.ts';
import { appliedFields, parseApply } from '../verbs/apply.ts';
import { matchNamespace } from '../verbs/create.ts';
import { isApply, parsePatch, patchOptions, patchType, patchVersion } from '../verbs/patch.ts';
import { matchName, type UpdatePlan, updateObject } from '../verbs/update.ts';
import type { ScaleSubresource } from './crd.ts';
import { AccessorError, integerAt, setAt, splitPath, stringAt } from './paths.ts';

export const customScaleEndpoint: Readonly<Record<string, (call: Call) => Promise<HttpResponse>>> = {
  GET: (call) => getScale(withScalePrinter(call), call.resource.scale!),
  PUT: (call) => putScale(withScalePrinter(call), call.resource.scale!),
  PATCH: (call) => patchScale(withScalePrinter(call), call.resource.scale!),
};

const withScalePrinter = (call: Call): Call => {
  const { printer } = call.resource.scale!;
  return { ...call, resource: { ...call.resource, printer } };
};

async function getScale(call: Call, { fields }: CustomScale): Promise<HttpResponse> {
  const { core, resource } = call;
  const stored = core.store.get(resource.storage, keyOf(call.namespace, call.name!));
  if (!stored) throw notFound(resource, call.name!);
  const object = resource.codec.show(stored);
  const shown = guarded(() => scaleOf(object, fields));
  if (integerAt(asJson(object), splitPath(fields.specReplicasPath)) === undefined) {
    throw internalError(`the spec replicas field ${JSON.stringify(fields.specReplicasPath)} does not exist`);
  }
  return objectResponse(call, 200, shown);
}

async function putScale(call: Call, scale: CustomScale): Promise<HttpResponse> {
  const options = parseWriteOptions(call.query, 'UpdateOptions');
  const sent = decodeScale(call, options);
  matchName(call, sent);
  matchNamespace(call, sent);
  const plan = planFor(call, { scale, options, change: () => sent });
  const versioned = Boolean(sent.metadata.resourceVersion);
  return updateObject(call, { ...plan, uid: sent.metadata.uid, versioned }, options);
}

async function patchScale(call: Call, scale: CustomScale): Promise<HttpResponse> {
  if (isApply(call)) return applyScale(call, scale);
  const type = patchType(call);
  const options = patchOptions(call);
  const change = (live: KubeObject) => {
    const apply = parsePatch(call, type);
    const { kind, apiVersion, ...rest } = asJson(live);
    return patchedScale(call, options, apply({ apiVersion, kind, ...rest } as JsonObject));
  };
  const plan = planFor(call, { scale, options, change });
  return updateObject(call, { ...plan, versioned: patchVersion(call, type) }, options);
}

async function applyScale(call: Call, scale: CustomScale): Promise<HttpResponse> {
  const asScale = { ...call, resource: { ...call.resource, ...SCALE_KIND } };
  const request = parseApply(asScale);
  const { options, versioned } = request;
  const change = (live: KubeObject) =>
    patchedScale(call, options, appliedFields(asScale, scaleAsEndpoint(), request, live));
  const plan = planFor(call, { scale, options, change, tracked: true });
  return updateObject(call, { ...plan, versioned }, options);
}

interface Plan {
  readonly scale: CustomScale;
  readonly options: WriteOptions;
  /** Returns the wanted Scale, made from the current one. */
  readonly change: (live: KubeObject) => KubeObject;
  /** The Scale already has its managers. */
  readonly tracked?: boolean;
}

function planFor(
  call: Call,
  { scale, options, change, tracked = false }: Plan,
): Omit<UpdatePlan, 'versioned'> {
  const { fields, replicas } = scale;
  return {
    make(old) {
      const live = managedScale(
        guarded(() => liveScale(old, fields)),
        old,
        replicas,
      );
      const sent = change(live);
      const next = withScale(old, sent, fields);
      const { fieldManager } = options;
      recordScaleManager(call, { old, live, sent, fieldManager, tracked }, replicas, next);
      return next;
    },
    tracked: true,
    other: {
      kind: { ...SCALE_KIND, codec: codecOf(SCALE_KIND) },
      show: (object) => scaleOf(object, fields),
      take: (object, shown) => withScale(object, shown, fields),
    },
  };
}

const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
const SCALE = 'io.k8s.api.autoscaling.v1.Scale';
// Value for missing replicas, so that a patch of another field is detected.
const UNSET = -(2 ** 31);

/** The Scale of the object; missing replicas are 0. */
function scaleOf(object: KubeObject, scale: ScaleSubresource): KubeObject {
  const json = asJson(object);
  const replicas = integerAt(json, splitPath(scale.specReplicasPath));
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const status: JsonObject = { replicas: integerAt(json, splitPath(scale.statusReplicasPath)) ?? 0 };
  const selector = scale.labelSelectorPath && stringAt(json, splitPath(scale.labelSelectorPath));
  if (selector) status['selector'] = selector;
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name: name ?? '',
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(creationTimestamp ? { creationTimestamp } : {}),
    },
    spec: replicas ? { replicas } : {},
    status,
  } as KubeObject;
}

/** The Scale of the object for an update; missing replicas are `UNSET`. */
function liveScale(object: KubeObject, scale: ScaleSubresource): KubeObject {
  const shown = scaleOf(object, scale);
  const isSet = integerAt(asJson(object), splitPath(scale.specReplicasPath)) !== undefined;
  return isSet ? shown : ({ ...shown, spec: { replicas: UNSET } } as KubeObject);
}

/** The object with the replicas of a Scale, and its resourceVersion if set. */
function withScale(old: KubeObject, sent: KubeObject, scale: ScaleSubresource): KubeObject {
  const next = asObject(clone(asJson(old)));
  const spec = asJson(sent)['spec'];
  const replicas = isObject(spec) ? (spec['replicas'] ?? 0) : 0;
  if (replicas === UNSET) {
    throw badRequest(`the spec replicas field ${JSON.stringify(scale.specReplicasPath)} cannot be empty`);
  }
  guarded(() => setAt(asJson(next), splitPath(scale.specReplicasPath), replicas));
  if (sent.metadata.resourceVersion) next.metadata.resourceVersion = sent.metadata.resourceVersion;
  return next;
}

function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (cause instanceof AccessorError) throw internal(cause.message);
    throw cause;
  }
}

/** For any invalid body, kube-apiserver only reports that it cannot find a kind for its internal type. */
const SCHEME = 'in scheme "pkg/runtime/scheme.go:111"';
const UNREADABLE = `no kind is registered for the type v1.Scale ${SCHEME}`;

function decodeScale(call: Call, options: WriteOptions): KubeObject {
  const { request } = call;
  const bytes = request.body ?? new Uint8Array();
  const format = bodyFormat(request.headers['content-type'], true) as 'json' | 'yaml';
  try {
    const { value, notes, problems } = parseBody(bytes, format);
    return readScale(call, options, { value, notes, problems }, () => badRequest(UNREADABLE));
  } catch (cause) {
    if (cause instanceof BodyError || cause instanceof DecodeError) throw badRequest(UNREADABLE);
    throw cause;
  }
}

function patchedScale(call: Call, options: WriteOptions, value: Json): KubeObject {
  const refuse = (why: string) =>
    invalidError({ group: '', kind: '' }, '', [invalid('patch', writeJson(value), why)]);
  try {
    const scale = readScale(call, options, { value, notes: undefined, problems: [] }, refuse);
    matchName(call, scale);
    matchNamespace(call, scale);
    return scale;
  } catch (cause) {
    if (cause instanceof DecodeError) throw refuse(cause.message);
    throw cause;
  }
}

interface Body {
  readonly value: Json;
  readonly notes: JsonNotes | undefined;
  readonly problems: readonly string[];
}

function readScale(
  call: Call,
  { fieldValidation }: WriteOptions,
  body: Body,
  refuse: (why: string) => Error,
): KubeObject {
  const { value } = body;
  if (!isObject(value)) throw refuse('json: cannot unmarshal value into Go value of type v1.Scale');
  const { kind = 'Scale', apiVersion = 'autoscaling/v1' } = value;
  if (kind !== 'Scale' || apiVersion !== 'autoscaling/v1') {
    throw refuse(`no kind "${kind}" is registered for version "${apiVersion}" ${SCHEME}`);
  }
  const typed = decodeTyped(builtinTable(), SCALE, value, body.notes);
  const problems = [...body.problems, ...typed.unknown.map((path) => `unknown field "${path}"`)];
  if (problems.length > 0 && fieldValidation === 'Strict') {
    throw refuse(`strict decoding error: ${problems.join(', ')}`);
  }
  if (fieldValidation === 'Warn') {
    for (const problem of problems) if (!call.warnings.includes(problem)) call.warnings.push(problem);
  }
  return asObject(typed.value);
}
