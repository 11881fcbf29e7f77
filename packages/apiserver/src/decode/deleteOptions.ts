// Parses DeleteOptions from the body, or from the query when there is no body.

import { badRequest } from '@lapse/kube/api/errors';
import { type FieldError, invalid, invalidError, notSupported } from '@lapse/kube/api/fieldErrors';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { decodeEnvelope, decodeMessage } from '#schema/protobuf';
import { DecodeError, decodeTyped } from '#schema/typed';
import type { Call } from '../context.ts';
import { builtinTable } from '../data/tables.ts';
import { booleanParam, type DeleteOptions, integerParam, type Query, validateDryRun } from '../http/query.ts';
import { bodyFormat, parseBody } from './body.ts';
import { BodyError } from './parsedBody.ts';

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
    gracePeriodSeconds: value['gracePeriodSeconds'] as number | undefined,
    propagationPolicy: value['propagationPolicy'] as string | undefined,
    orphanDependents: value['orphanDependents'] as boolean | undefined,
    uid: preconditions['uid'] as string | undefined,
    resourceVersion: preconditions['resourceVersion'] as string | undefined,
    dryRun: (value['dryRun'] as string[] | undefined) ?? [],
  };
}

/** The options with the types of the Go struct. */
function readBody(call: Call, bytes: Uint8Array): JsonObject {
  try {
    const format = bodyFormat(call.request.headers['content-type'], false);
    if (format === 'protobuf') {
      const envelope = decodeEnvelope(bytes);
      checkKind(envelope.kind, envelope.apiVersion);
      return decodeMessage(builtinTable(), OPTIONS_TYPE, envelope.raw);
    }
    const { value, notes } = parseBody(bytes, format);
    if (!isObject(value))
      throw badRequest("couldn't get version/kind; json parse error: DeleteOptions must be an object");
    checkKind(value['kind'], value['apiVersion']);
    return decodeTyped(builtinTable(), OPTIONS_TYPE, value, notes).value;
  } catch (cause) {
    if (cause instanceof BodyError || cause instanceof DecodeError) throw badRequest(cause.message);
    throw cause;
  }
}

function checkKind(kind: Json | undefined, apiVersion: Json | undefined): void {
  if (kind === undefined || kind === '' || kind === 'DeleteOptions') return;
  const version = apiVersion === undefined || apiVersion === '' ? 'v1' : String(apiVersion);
  const scheme = 'pkg/runtime/scheme.go:111';
  throw badRequest(`no kind "${String(kind)}" is registered for version "${version}" in scheme "${scheme}"`);
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

function validatePropagation(o: RawOptions): FieldError[] {
  const { propagationPolicy: policy } = o;
  if (policy === undefined) return [];
  const both = 'orphanDependents and deletionPropagation cannot be both set';
  return [
    ...(o.orphanDependents === undefined ? [] : [invalid('propagationPolicy', policy, both)]),
    ...(POLICIES.includes(policy) ? [] : [notSupported('propagationPolicy', policy, [...POLICIES, 'nil'])]),
  ];
}
