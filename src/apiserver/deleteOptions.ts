// DeleteOptions: from the body if there is one (then the query says nothing), else from the query.

import { badRequest } from '#api/errors';
import { type FieldError, invalid, invalidError, notSupported } from '#api/fieldErrors';
import { isObject, type JsonObject } from '#api/json';
import { decodeEnvelope, decodeMessage } from '#schema/protobuf';
import { BodyError, bodyFormat, parseBody } from './body.ts';
import type { Call } from './context.ts';
import { builtinTable } from './data.ts';
import { booleanParam, integerParam, type Query, validateDryRun } from './query.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
}

const OPTIONS_TYPE = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

export function parseDeleteOptions(call: Call): DeleteOptions {
  const body = call.request.body;
  const raw = body && body.length > 0 ? fromBody(call, body) : fromQuery(call.query);
  const dryRun = raw.dryRun;
  const errors = [...validateDryRun(dryRun), ...validatePropagation(raw)];
  if (errors.length > 0) throw invalidError({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return { ...raw, dryRun: dryRun.length > 0 };
}

type RawOptions = Omit<DeleteOptions, 'dryRun'> & { dryRun: string[] };

function fromQuery(query: Query): RawOptions {
  return {
    gracePeriodSeconds: integerParam(query, 'gracePeriodSeconds'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: booleanParam(query, 'orphanDependents'),
    uid: query.get('uid') ?? undefined,
    resourceVersion: query.get('resourceVersion') ?? undefined,
    dryRun: query.getAll('dryRun').filter((v) => v !== ''),
  };
}

function fromBody(call: Call, bytes: Uint8Array): RawOptions {
  const value = readBody(call, bytes);
  const preconditions = isObject(value['preconditions']) ? value['preconditions'] : {};
  return {
    gracePeriodSeconds: numberField(value, 'gracePeriodSeconds'),
    propagationPolicy: stringField(value, 'propagationPolicy'),
    orphanDependents: booleanField(value, 'orphanDependents'),
    uid: stringField(preconditions, 'uid'),
    resourceVersion: stringField(preconditions, 'resourceVersion'),
    dryRun: Array.isArray(value['dryRun']) ? value['dryRun'].map(String) : [],
  };
}

function readBody(call: Call, bytes: Uint8Array): JsonObject {
  const format = bodyFormat(call.request.headers['content-type'], false);
  if (format === 'protobuf') {
    const envelope = decodeEnvelope(bytes);
    if (envelope.kind !== 'DeleteOptions') throw wrongKind(envelope.kind);
    return decodeMessage(builtinTable(), OPTIONS_TYPE, envelope.raw);
  }
  let value: unknown;
  try {
    value = parseBody(bytes, format).value;
  } catch (cause) {
    if (!(cause instanceof BodyError)) throw cause;
    throw badRequest(`couldn't get version/kind; json parse error: ${cause.message}`);
  }
  if (!isObject(value))
    throw badRequest("couldn't get version/kind; json parse error: DeleteOptions must be an object");
  const kind = value['kind'];
  if (kind !== undefined && kind !== '' && kind !== 'DeleteOptions') throw wrongKind(String(kind));
  return value;
}

const wrongKind = (kind: string) =>
  badRequest(`decoded object cannot be converted to DeleteOptions: ${kind}`);

const wrongType = (name: string, want: string) =>
  badRequest(`json: cannot unmarshal value into Go struct field DeleteOptions.${name} of type ${want}`);

function stringField(value: JsonObject, name: string): string | undefined {
  const v = value[name];
  if (v === undefined || v === null) return undefined;
  if (typeof v !== 'string') throw wrongType(name, 'string');
  return v;
}

function numberField(value: JsonObject, name: string): number | undefined {
  const v = value[name];
  if (v === undefined || v === null) return undefined;
  if (typeof v !== 'number' || !Number.isInteger(v)) throw wrongType(name, 'int64');
  return v;
}

function booleanField(value: JsonObject, name: string): boolean | undefined {
  const v = value[name];
  if (v === undefined || v === null) return undefined;
  if (typeof v !== 'boolean') throw wrongType(name, 'bool');
  return v;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

function validatePropagation(o: RawOptions): FieldError[] {
  if (o.propagationPolicy === undefined) return [];
  if (o.orphanDependents !== undefined) {
    const text = 'orphanDependents and deletionPropagation cannot be both set';
    return [invalid('propagationPolicy', o.propagationPolicy, text)];
  }
  return POLICIES.includes(o.propagationPolicy)
    ? []
    : [notSupported('propagationPolicy', o.propagationPolicy, [...POLICIES, 'nil'])];
}
