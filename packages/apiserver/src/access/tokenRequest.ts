// POST serviceaccounts/NAME/token: issues a token for the account with the requested lifetime, optionally bound to an
// object.

import { formatTime, type Instant, plus, seconds } from '@lapse/base/instant';
import { badRequest, conflict, notFound } from '@lapse/kube/api/errors';
import { type FieldError, invalid, invalidError } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import { parseWriteOptions } from '../http/query.ts';
import { objectResponse } from '../http/respond.ts';
import { keyOf, specOf } from '../resources/resource.ts';
import { codecOf, decodeAs } from '../strategies/subresource.ts';
import { has, list, number, part, text } from '../strategies/values.ts';
import { type Bound, ISSUER, type ObjectClaim } from './accountTokens.ts';

const KIND = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
const MIN_SECONDS = 600;
const MOST = 2 ** 32;

export async function requestToken(call: Call): Promise<HttpResponse> {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  const sent = decodeAs(call, KIND, options);
  settleNamespace(call, sent);
  const { admission, clock, tokens } = call.core;
  const kind = { ...KIND, codec: codecOf(KIND) };
  const write = {
    operation: 'CREATE',
    old: undefined,
    name: call.name!,
    dryRun: options.dryRun,
    kind,
  } as const;
  const request = (await admission.mutate(call, { ...write, object: sent }))!;
  const account = accountOf(call, request);
  const now = clock.now();
  const filled = filledIn(request, account, now);
  const lengthSeconds = number(filled.spec, 'expirationSeconds')!;
  const errors = checkLength(lengthSeconds);
  if (errors.length > 0) throw invalidError(KIND, '', errors);
  // Admission sees the response without the token. The bound object is looked up afterwards.
  await admission.validate(call, { ...write, object: filled as unknown as KubeObject });
  const { audiences, boundObjectRef: reference } = filled.spec;
  const bound = reference === null ? {} : findBound(call, reference);
  const status = {
    token: tokens.issue(account, { lengthSeconds, audiences, bound }),
    expirationTimestamp: formatTime(plus(now, seconds(lengthSeconds))),
  };
  return objectResponse(call, 201, { ...filled, status } as unknown as KubeObject);
}

const MISPLACED = 'the namespace of the provided object does not match the namespace sent on the request';

function settleNamespace(call: Call, { metadata }: KubeObject): void {
  if ((metadata.namespace || call.namespace) !== call.namespace) throw badRequest(MISPLACED);
  metadata.namespace = call.namespace!;
}

/** The request with the defaults of the account and the server. */
function filledIn(request: KubeObject, account: KubeObject, now: Instant) {
  const spec = specOf(request);
  const named = list(spec, 'audiences').filter((audience) => typeof audience === 'string');
  const { name, namespace, uid } = account.metadata;
  return {
    kind: KIND.kind,
    apiVersion: `${KIND.group}/${KIND.version}`,
    metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: formatTime(now) },
    spec: {
      audiences: named.length === 0 ? [ISSUER] : named,
      expirationSeconds: number(spec, 'expirationSeconds')!,
      boundObjectRef: has(spec, 'boundObjectRef') ? part(spec, 'boundObjectRef') : null,
    },
    status: { token: '', expirationTimestamp: null },
  };
}

/** The account of the path; the body must not name another one. */
function accountOf(call: Call, { metadata }: KubeObject): KubeObject {
  const name = call.name!;
  const must = (field: 'name' | 'namespace', value: string | undefined) => {
    if ((metadata[field] || value) === value) return;
    const why = `must match the service account ${field} if specified`;
    throw invalidError(KIND, name, [invalid(`metadata.${field}`, metadata[field]!, why)]);
  };
  must('name', name);
  must('namespace', call.namespace);
  const account = call.core.store.get('serviceaccounts', keyOf(call.namespace, name))?.object;
  if (!account) throw notFound(call.resource, name);
  const { uid } = account.metadata;
  if ((metadata.uid || uid) !== uid) {
    const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: KIND.group, plural: KIND.kind }, name, why);
  }
  return account;
}

function checkLength(length: number): FieldError[] {
  const path = 'spec.expirationSeconds';
  if (length < MIN_SECONDS) return [invalid(path, length, 'may not specify a duration less than 10 minutes')];
  return length > MOST ? [invalid(path, length, 'may not specify a duration larger than 2^32 seconds')] : [];
}

function findBound(call: Call, reference: JsonObject): Bound {
  const kind = text(reference, 'kind');
  const gv = parseApiVersion(text(reference, 'apiVersion'));
  if (gv?.group !== '' || !['Pod', 'Secret', 'Node'].includes(kind)) {
    const place = `${gv?.group ?? ''}/${gv?.version ?? ''}`;
    throw badRequest(`cannot bind token to object of type ${place}, Kind=${kind}`);
  }
  const plural = `${kind.toLowerCase()}s`;
  const name = text(reference, 'name');
  const read = (table: string, key: string) => call.core.store.get(table, key)?.object;
  const object = read(plural, keyOf(kind === 'Node' ? undefined : call.namespace, name));
  if (!object) throw notFound({ group: '', plural }, name);
  if (kind === 'Pod' && text(specOf(object), 'serviceAccountName') !== call.name) {
    const account = JSON.stringify(call.name);
    throw badRequest(
      `cannot bind token for serviceaccount ${account} to pod running with different serviceaccount name.`,
    );
  }
  const wanted = text(reference, 'uid');
  if (wanted !== '' && wanted !== object.metadata.uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', plural: kind }, name, why);
  }
  const nodeName = kind === 'Pod' ? text(specOf(object), 'nodeName') : '';
  return {
    [kind.toLowerCase()]: claim(name, object),
    ...(nodeName === '' ? {} : { node: claim(nodeName, read('nodes', nodeName)) }),
  };
}

const claim = (name: string, object: KubeObject | undefined): ObjectClaim => ({
  name,
  ...(object?.metadata.uid === undefined ? {} : { uid: object.metadata.uid }),
});
