// Parses request bodies: JSON, YAML or protobuf by Content-Type, with the errors of kube-apiserver.

import { badRequest, unsupportedMediaType } from '@lapse/kube/api/errors';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { JsonRangeError, JsonSyntaxError, parseJson } from '@lapse/kube/api/jsonParse';
import { parsePlainJson } from '@lapse/kube/api/jsonPlain';
import { BodyError, type ParsedBody } from './parsedBody.ts';
import { parseYaml } from './yaml.ts';

export type BodyFormat = 'json' | 'yaml' | 'protobuf';

// Deeper than any real object, and low enough for recursive functions.
const MAX_DEPTH = 1000;

const TYPES: Record<string, BodyFormat> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
};

export const BODY_TYPES = Object.keys(TYPES);

/** The format of a body; without a Content-Type it is JSON. */
export function bodyFormat(contentType: string | undefined, custom: boolean): BodyFormat {
  const type = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  if (type === '') return 'json';
  const format = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (!format) throw unsupportedMediaType(BODY_TYPES);
  // kube-apiserver lists protobuf among the accepted types here, but fails to decode it.
  if (custom && format === 'protobuf') throw unsupportedMediaType(BODY_TYPES.slice(0, 2));
  return format;
}

const jsonError = (why: string) => new BodyError(`couldn't get version/kind; json parse error: ${why}`);

export function parseBody(bytes: Uint8Array, format: 'json' | 'yaml'): ParsedBody {
  try {
    if (format === 'json') {
      const plain = parsePlainJson(bytes, MAX_DEPTH);
      if (plain !== undefined) return { value: plain, problems: [] };
      const { value, duplicates, notes } = parseJson(bytes, { maxDepth: MAX_DEPTH, notes: true });
      const problems = duplicates.map((path) => `duplicate field "${path}"`);
      return { value: value ?? {}, problems, ...(notes ? { notes } : {}) };
    }
    return parseYaml(Buffer.from(bytes).toString('utf8'), MAX_DEPTH);
  } catch (cause) {
    if (cause instanceof JsonSyntaxError || cause instanceof JsonRangeError) throw jsonError(cause.message);
    throw cause;
  }
}

const GO_META =
  'json: cannot unmarshal %s into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Returns the body when it is an object; otherwise 400, as for a body without a version and kind. */
export function requireObject(body: ParsedBody, bytes: Uint8Array, kind: string): JsonObject {
  const { value } = body;
  if (!isObject(value))
    throw unrecognised(kind, jsonError(GO_META.replace('%s', goKindOf(value))).message, bytes);
  for (const name of ['apiVersion', 'kind']) {
    const text = value[name] ?? '';
    if (typeof text === 'string') continue;
    const why = `json: cannot unmarshal ${goKindOf(text)} into Go struct field .${name} of type string`;
    throw unrecognised(kind, jsonError(why).message, bytes);
  }
  return value;
}

export const missingKind = (kind: string, bytes: Uint8Array) =>
  unrecognised(kind, `Object 'Kind' is missing in '${Buffer.from(bytes).toString('utf8')}'`, bytes);

/** 400: the kind of the body cannot be determined. */
export function unrecognised(kind: string, why: string, bytes: Uint8Array) {
  const text = `the object provided is unrecognized (must be of type ${kind})`;
  return badRequest(`${text}: ${why} (${summarise(bytes)})`);
}

function goKindOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'number';
}

const SUMMARY = 30;

/** The first bytes of a body: text when it looks like JSON, otherwise hexadecimal digits. */
function summarise(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const encoding = bytes[0] === 0x7b ? 'utf8' : 'hex';
  const shown = Buffer.from(bytes.subarray(0, SUMMARY)).toString(encoding);
  return bytes.length > SUMMARY ? `${shown} ...` : shown;
}
