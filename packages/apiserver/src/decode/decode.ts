// Decodes a request body as an object of the requested resource: checks kind and version, applies defaults, and
// reports unknown and duplicate fields according to fieldValidation.

import { badRequest, unsupportedMediaType } from '@lapse/kube/api/errors';
import type { JsonObject } from '@lapse/kube/api/json';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { decodeEnvelope, type Envelope, EnvelopeError } from '#schema/protobuf';
import { DecodeError } from '#schema/typed';
import type { Call } from '../context.ts';
import type { WriteOptions } from '../http/query.ts';
import { keepEmptyLists } from '../metadata/managedFields.ts';
import type { Decoded } from '../resources/resource.ts';
import { BODY_TYPES, bodyFormat, parseBody, requireObject, unrecognised } from './body.ts';
import { checkGvk } from './gvk.ts';
import { BodyError } from './parsedBody.ts';

export function decodeBody(call: Call, options: WriteOptions): KubeObject {
  const { resource, request } = call;
  const bytes = request.body ?? new Uint8Array();
  const format = bodyFormat(request.headers['content-type'], resource.custom);
  if (format === 'protobuf') return report(call, decodeProtobuf(call, bytes), options);
  let parsed: ReturnType<typeof parseBody>;
  try {
    parsed = parseBody(bytes, format);
  } catch (cause) {
    if (cause instanceof BodyError) throw unrecognised(resource.kind, cause.message, bytes);
    throw cause;
  }
  const value = requireObject(parsed, bytes, resource.kind);
  checkGvk(call, value);
  const decoded = guarded(call, () => resource.codec.decode(value, parsed.notes));
  return report(
    call,
    { object: keepEmptyLists(value, decoded.object), problems: [...parsed.problems, ...decoded.problems] },
    options,
  );
}

function decodeProtobuf(call: Call, bytes: Uint8Array): Decoded {
  const { resource } = call;
  if (!resource.codec.decodeProtobuf) throw unsupportedMediaType(BODY_TYPES.slice(0, 2));
  return guarded(call, () => {
    const envelope = openEnvelope(call, bytes);
    const value: JsonObject = { apiVersion: envelope.apiVersion, kind: envelope.kind };
    checkGvk(call, value);
    return resource.codec.decodeProtobuf!(envelope.raw);
  });
}

function openEnvelope(call: Call, bytes: Uint8Array): Envelope {
  try {
    return decodeEnvelope(bytes);
  } catch (cause) {
    if (cause instanceof EnvelopeError) throw unrecognised(call.resource.kind, cause.message, bytes);
    throw cause;
  }
}

/** A body that cannot be decoded as this kind is a 400 with the message of the decoder. */
function guarded<T>(call: Call, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause;
    const { kind, version } = call.resource;
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${cause.message}`);
  }
}

/** Strict throws, Warn adds warnings, Ignore does nothing. */
export function report(
  call: Call,
  decoded: Decoded,
  options: Pick<WriteOptions, 'fieldValidation'>,
): KubeObject {
  const { problems, object } = decoded;
  if (problems.length > 0 && options.fieldValidation === 'Strict') throw strictError(call, problems);
  if (options.fieldValidation === 'Warn') for (const problem of problems) call.warnings.push(problem);
  return object;
}

export function strictError(call: Call, problems: readonly string[]) {
  const { kind, version } = call.resource;
  const text = `strict decoding error: ${problems.join(', ')}`;
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${text}`);
}

/** Puts the kind and apiVersion of the resource first: list items of built-ins are the bytes after them. */
export function withGvk(
  object: KubeObject,
  gvk: { group: string; version: string; kind: string },
): KubeObject {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return { kind: gvk.kind, apiVersion: apiVersionOf(gvk), ...rest } as KubeObject;
}
