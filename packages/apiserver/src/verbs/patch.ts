// PATCH: JSON patch, merge patch and, on built-in kinds, strategic merge patch. The patched object is then processed
// like an update.

import { badRequest, internal } from '@lapse/kube/api/errors';
import { forbidden, invalid, invalidError } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { clone, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { JsonRangeError, JsonSyntaxError, type ParsedJson, parseJson } from '@lapse/kube/api/jsonParse';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { sortKeys } from '@lapse/kube/api/sortKeys';
import { ApiError } from '@lapse/kube/api/status';
import { goPrint } from '#schema/goPrint';
import {
  applyJsonPatch,
  applyJsonPatchInOrder,
  type JsonPatch,
  JsonPatchError,
  parseJsonPatch,
} from '#schema/jsonPatch';
import { applyMergePatch, applyMergePatchInOrder } from '#schema/mergePatch';
import { applyStrategicMerge, StrategicMergeError } from '#schema/strategicMerge';
import { inStructOrder } from '#schema/structOrder';
import { DecodeError } from '#schema/typed';
import type { Call } from '../context.ts';
import { builtinTable } from '../data/tables.ts';
import { checkGvk } from '../decode/gvk.ts';
import { booleanParam, parseWriteOptions, type WriteOptions } from '../http/query.ts';
import { keepEmptyLists } from '../metadata/managedFields.ts';
import { KindMismatch } from '../resources/kindMismatch.ts';
import type { Codec, Decoded } from '../resources/resource.ts';
import { APPLY, apply } from './apply.ts';
import { matchNamespace } from './create.ts';
import { matchName, updateObject } from './update.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

export async function patch(call: Call): Promise<HttpResponse> {
  if (isApply(call)) return apply(call);
  const type = patchType(call);
  const options = patchOptions(call);
  // Parsed lazily: only when the object to patch exists.
  const change = once(() => parsePatch(call, type));
  const make = (old: KubeObject) => patched(call, options, { type, old: () => toJson(old), change });
  return updateObject(call, { versioned: patchVersion(call, type), make }, options);
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

export function patchOptions(call: Call): WriteOptions {
  const forced = booleanParam(call.query, 'force') !== undefined;
  const error = forbidden('force', 'may not be specified for non-apply patch');
  return parseWriteOptions(call.query, 'PatchOptions', forced ? [error] : []);
}

/** Whether the patch has a resourceVersion; then a lost race is a conflict for the client. */
export function patchVersion(call: Call, type: string): boolean {
  if (type === JSON_PATCH) return false;
  const value = tryPatch(call, type);
  return isObject(value) && isObject(value['metadata']) && Boolean(value['metadata']['resourceVersion']);
}

function tryPatch(call: Call, type: string): Json | undefined {
  try {
    return readPatch(call, type).value;
  } catch (cause) {
    if (cause instanceof ApiError) return undefined;
    throw cause;
  }
}

const toJson = (object: KubeObject): JsonObject => clone(asJson(object));

const contentType = (call: Call): string =>
  (call.request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();

export const isApply = (call: Call): boolean => contentType(call) === APPLY;

export function patchType(call: Call): string {
  const type = contentType(call);
  if (type === JSON_PATCH || type === MERGE_PATCH) return type;
  if (type === STRATEGIC && !call.resource.custom) return type;
  if (call.resource.custom) {
    const accepted = [JSON_PATCH, MERGE_PATCH, APPLY].join(', ');
    const text = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
    throw new ApiError(415, 'UnsupportedMediaType', text);
  }
  throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

/** `inOrder`: the keys of the result are in the order in which kube-apiserver quotes them. */
type Apply = (old: JsonObject, inOrder?: boolean) => Json;

const ESCAPES = /\\u00(3c|3e|26)/i;

/** Whether the strings in `test` operations may contain the escapes that kube-apiserver writes. */
const spellsEscapes = ({ request }: Call, { operations }: JsonPatch): boolean =>
  operations.some(({ op }) => op === 'test') &&
  ESCAPES.test(Buffer.from(request.body ?? []).toString('latin1'));

/** Parses the patch once; the returned function may be called several times. */
export function parsePatch(call: Call, type: string, structType = call.resource.patchType): Apply {
  const { value, notes } = readPatch(call, type);
  if (type === JSON_PATCH) {
    const operations = guard(
      () => parseJsonPatch(value, notes),
      call.query.get('fieldValidation') === 'Ignore',
    );
    reportOperations(call, operations.problems);
    const patch = { ...operations, escapes: spellsEscapes(call, operations) };
    return (old, inOrder) =>
      guard(() => (inOrder ? applyJsonPatchInOrder(old, patch) : applyJsonPatch(old, patch)));
  }
  if (value === null && type === MERGE_PATCH) throw badRequest('Invalid JSON Patch');
  if (!isObject(value)) {
    const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : goName(value);
    const why = `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
    throw badRequest(type === STRATEGIC ? why : `error decoding patch: ${why}`);
  }
  if (type === MERGE_PATCH)
    return (old, inOrder) => (inOrder ? applyMergePatchInOrder(old, value) : applyMergePatch(old, value));
  // The merge modifies its patch.
  return (old) => guard(() => applyStrategicMerge(builtinTable(), structType!, old, clone(value)));
}

/** The text that an error quotes: the patch without the directives that were applied. */
function strategicRest(call: Call, old: JsonObject): string {
  const patch = readPatch(call, STRATEGIC).value as JsonObject;
  applyStrategicMerge(builtinTable(), call.resource.patchType!, old, patch);
  return goPrint(patch);
}

const goName = (value: Json) =>
  typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';

/** Reports unknown or duplicate fields of the operations themselves. */
function reportOperations(call: Call, problems: readonly string[]): void {
  const validation = call.query.get('fieldValidation') || 'Warn';
  if (problems.length === 0 || validation === 'Ignore') return;
  if (validation === 'Warn') {
    call.warnings.push(...problems.filter((p) => !call.warnings.includes(p)));
    return;
  }
  const shown = Buffer.from(call.request.body ?? []).toString();
  const why = `strict decoding error: ${problems.join(', ')}`;
  throw invalidError({ group: '', kind: '' }, '', [invalid('patch', shown, why)]);
}

function readPatch(call: Call, type: string): ParsedJson {
  try {
    return parseJson(call.request.body ?? new Uint8Array(), { maxDepth: 1000, notes: type === JSON_PATCH });
  } catch (cause) {
    if (cause instanceof JsonSyntaxError || cause instanceof JsonRangeError) {
      throw badRequest(type === STRATEGIC ? cause.message : `error decoding patch: ${cause.message}`);
    }
    throw cause;
  }
}

/** Without field validation kube-apiserver uses another decoder, which names its own types. */
const malformed = (message: string, lenient: boolean): string =>
  lenient
    ? message
        .replace('[]handlers.jsonPatchOp', 'jsonpatch.Patch')
        .replace('handlers.jsonPatchOp', 'jsonpatch.Operation')
    : `error decoding patch: ${message}`;

function guard<T>(apply: () => T, lenient = false): T {
  try {
    return apply();
  } catch (cause) {
    if (cause instanceof StrategicMergeError) throw strategicRefusal(cause);
    if (!(cause instanceof JsonPatchError)) throw cause;
    if (cause.kind === 'malformed') throw badRequest(malformed(cause.message, lenient));
    if (cause.kind === 'tooLarge') throw new ApiError(413, 'RequestEntityTooLarge', cause.message);
    throw unprocessable();
  }
}

const unprocessable = () =>
  new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

function strategicRefusal({ kind, message }: StrategicMergeError): ApiError {
  switch (kind) {
    case 'malformed':
      return badRequest(message);
    case 'unprocessable':
      return unprocessable();
    case 'internal':
      return internal(message);
  }
}

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/**
 * Without an apiVersion, kube-apiserver decodes the result of a patch into its internal struct. That struct has the
 * fields of metadata inline, and all its other fields have other names: every other field is unknown.
 */
function decodeInternal(codec: Codec, value: JsonObject): Decoded {
  const metadata: JsonObject = {};
  const unknown: string[] = [];
  const known = builtinTable().types[OBJECT_META]!.fields;
  for (const [key, entry] of Object.entries(value)) {
    if (Object.hasOwn(known, key)) setOwn(metadata, key, entry);
    else if (key !== 'kind' && key !== 'apiVersion') unknown.push(`unknown field ${JSON.stringify(key)}`);
  }
  const { object, problems } = codec.decode({ kind: value['kind'] ?? '', metadata });
  return { object, problems: [...problems, ...unknown] };
}

function decodePatched({ resource }: Call, value: JsonObject, type: string): Decoded {
  const { codec, custom } = resource;
  if (type === STRATEGIC && codec.convert) return codec.convert(value);
  return custom || value['apiVersion'] ? codec.decode(value) : decodeInternal(codec, value);
}

const NO_OBJECT =
  'json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The object before the patch, with keys in the order of the text that kube-apiserver patches. */
function asWritten({ resource }: Call, old: JsonObject): JsonObject {
  if (resource.patchType === undefined) return sortKeys(old);
  return inStructOrder(builtinTable(), resource.patchType, old) as JsonObject;
}

/** The order of problems depends on the text, so several problems are decoded again from the exact text. */
function decodeInWords(call: Call, type: string, value: JsonObject, exact: () => Json): Decoded {
  const again = () => decodePatched(call, exact() as JsonObject, type);
  if (type === STRATEGIC) return decodePatched(call, value, type);
  try {
    const decoded = decodePatched(call, value, type);
    return decoded.problems.length < 2 ? decoded : { ...decoded, problems: again().problems };
  } catch (cause) {
    if (cause instanceof DecodeError) again();
    throw cause;
  }
}

interface Patching {
  readonly type: string;
  readonly old: () => JsonObject;
  readonly change: () => Apply;
}

/** The result of a patch as an object of this resource. An invalid result is a 422 that quotes it. */
function patched(call: Call, options: WriteOptions, { type, old, change }: Patching): KubeObject {
  // Decoding modifies the value and the patch, so an error message rebuilds the result from the request.
  const exact = () => parsePatch(call, type)(asWritten(call, old()), true);
  const shown = () => (type === STRATEGIC ? strategicRest(call, old()) : writeJson(exact()));
  const refuse = (why: string) => invalidError({ group: '', kind: '' }, '', [invalid('patch', shown(), why)]);
  const value = change()(old());
  if (!isObject(value)) throw refuse(`couldn't get version/kind; json parse error: ${NO_OBJECT}`);
  try {
    if (!call.resource.custom) checkGvk(call, value, refuse);
    const { object, problems } = decodeInWords(call, type, value, exact);
    if (problems.length > 0 && options.fieldValidation === 'Strict') {
      throw refuse(`strict decoding error: ${problems.join(', ')}`);
    }
    if (options.fieldValidation === 'Warn')
      for (const p of problems) if (!call.warnings.includes(p)) call.warnings.push(p);
    matchNamespace(call, object);
    matchName(call, object);
    return keepEmptyLists(value, object);
  } catch (cause) {
    if (cause instanceof DecodeError) throw refuse(cause.message);
    if (cause instanceof KindMismatch) throw refuse(cause.why);
    throw cause;
  }
}
