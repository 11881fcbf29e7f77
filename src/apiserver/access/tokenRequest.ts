// POST serviceaccounts/NAME/token: a token for the account, for as long as was asked, bound to an object if it should
// end with that.

import { badRequest, conflict, notFound } from '#api/errors';
import { type FieldError, invalid, invalidError } from '#api/fieldErrors';
import type { HttpResponse } from '#api/http';
import type { JsonObject } from '#api/json';
import { type KubeObject, parseApiVersion } from '#api/object';
import { formatTime, plus, seconds } from '#base/instant';
import type { Call } from '../context.ts';
import { parseWriteOptions } from '../query.ts';
import { keyOf, specOf } from '../resources/resource.ts';
import { objectResponse } from '../respond.ts';
import { admitAs, decodeAs } from '../strategies/subresource.ts';
import { has, list, number, part, text } from '../strategies/values.ts';
import { type Bound, ISSUER, type ObjectClaim } from './accountTokens.ts';

const KIND = { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
const LEAST = 600;
const MOST = 2 ** 32;

export async function requestToken(call: Call): Promise<HttpResponse> {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  const request = await admitAs(call, KIND, decodeAs(call, KIND, options), options.dryRun);
  const account = accountOf(call, request);
  const spec = specOf(request);
  const lengthSeconds = number(spec, 'expirationSeconds')!;
  const errors = checkLength(lengthSeconds);
  if (errors.length > 0) throw invalidError(KIND, '', errors);
  const named = list(spec, 'audiences').filter((audience) => typeof audience === 'string');
  const audiences = named.length === 0 ? [ISSUER] : named;
  const reference = has(spec, 'boundObjectRef') ? part(spec, 'boundObjectRef') : null;
  const bound = reference === null ? {} : findBound(call, reference);
  const now = call.core.clock.now();
  const { name, namespace, uid } = account.metadata;
  const answer = {
    kind: KIND.kind,
    apiVersion: `${KIND.group}/${KIND.version}`,
    metadata: { ...request.metadata, name, namespace, uid, creationTimestamp: formatTime(now) },
    spec: { audiences, expirationSeconds: lengthSeconds, boundObjectRef: reference },
    status: {
      token: call.core.tokens.issue(account, { lengthSeconds, audiences, bound }),
      expirationTimestamp: formatTime(plus(now, seconds(lengthSeconds))),
    },
  };
  return objectResponse(call, 201, answer as unknown as KubeObject);
}

/** The account of the path, which is the one of the body if that names one. */
function accountOf(call: Call, { metadata }: KubeObject): KubeObject {
  const name = call.name!;
  if ((metadata.namespace ?? call.namespace) !== call.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if ((metadata.name ?? name) !== name) {
    const why = 'must match the service account name if specified';
    throw invalidError(KIND, name, [invalid('metadata.name', metadata.name!, why)]);
  }
  const account = call.core.store.get('serviceaccounts', keyOf(call.namespace, name))?.object;
  if (!account) throw notFound(call.resource, name);
  const { uid } = account.metadata;
  if ((metadata.uid ?? uid) !== uid) {
    const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: KIND.group, plural: KIND.kind }, name, why);
  }
  return account;
}

function checkLength(length: number): FieldError[] {
  const path = 'spec.expirationSeconds';
  if (length < LEAST) return [invalid(path, length, 'may not specify a duration less than 10 minutes')];
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
