// POST serviceaccounts/NAME/token: a token for the account, for as long as was asked.

import { badRequest, notFound } from '#api/errors';
import { type FieldError, invalid, invalidError } from '#api/fieldErrors';
import type { HttpResponse } from '#api/http';
import { isObject, type JsonObject } from '#api/json';
import type { KubeObject } from '#api/object';
import { formatTime, plus, seconds } from '#base/instant';
import { BodyError, bodyFormat, parseBody } from '../body.ts';
import type { Call } from '../context.ts';
import { keyOf } from '../resources/resource.ts';
import { objectResponse } from '../respond.ts';

const HOUR = 3600;
const LEAST = 600;
const MOST = 2 ** 32;

export async function requestToken(call: Call): Promise<HttpResponse> {
  const request = readRequest(call);
  const spec = isObject(request['spec']) ? request['spec'] : {};
  const length = typeof spec['expirationSeconds'] === 'number' ? spec['expirationSeconds'] : HOUR;
  const errors = checkLength(length);
  if (errors.length > 0)
    throw invalidError({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', errors);
  const account = call.core.store.get('serviceaccounts', keyOf(call.namespace, call.name!));
  if (!account) throw notFound(call.resource, call.name!);
  const audiences = Array.isArray(spec['audiences'])
    ? spec['audiences'].filter((audience) => typeof audience === 'string')
    : [];
  const now = call.core.clock.now();
  const token = call.core.tokens.issue(account.object, length, audiences);
  const answer = {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: call.name!, namespace: call.namespace!, creationTimestamp: formatTime(now) },
    spec: { audiences, expirationSeconds: length, boundObjectRef: spec['boundObjectRef'] ?? null },
    status: { token, expirationTimestamp: formatTime(plus(now, seconds(length))) },
  };
  return objectResponse(call, 201, answer as unknown as KubeObject);
}

function readRequest(call: Call): JsonObject {
  const format = bodyFormat(call.request.headers['content-type'], false);
  if (format === 'protobuf') throw badRequest('a TokenRequest is read as JSON or YAML here');
  try {
    const { value } = parseBody(call.request.body ?? new Uint8Array(), format);
    return isObject(value) ? value : {};
  } catch (cause) {
    if (cause instanceof BodyError) throw badRequest(cause.message);
    throw cause;
  }
}

function checkLength(length: number): FieldError[] {
  const path = 'spec.expirationSeconds';
  if (length < LEAST) return [invalid(path, length, 'may not specify a duration less than 10 minutes')];
  return length > MOST ? [invalid(path, length, 'may not specify a duration larger than 2^32 seconds')] : [];
}
