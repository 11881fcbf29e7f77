// Questions about access: reviews are answered, by the same authoriser that judges requests, and never stored.

import { type FieldError, invalid, invalidError, required } from '#api/fieldErrors';
import type { HttpResponse } from '#api/http';
import { isObject, type Json, type JsonObject } from '#api/json';
import { checkDns1123Subdomain } from '#api/names';
import type { KubeObject } from '#api/object';
import { formatTime } from '#base/instant';
import type { Call } from '../context.ts';
import { decodeBody } from '../decode.ts';
import { parseWriteOptions } from '../query.ts';
import { type Strategy, specOf, type UserInfo } from '../resources/resource.ts';
import { objectResponse } from '../respond.ts';
import { pathAttributesOf, resourceAttributesOf } from './attributes.ts';
import { ruleJson } from './policyRule.ts';
import { userJson } from './userJson.ts';

/** The status of a review, or why the question is none. */
type Review = (call: Call, spec: JsonObject) => { status: JsonObject } | { errors: FieldError[] };

function judged({ core }: Call, user: UserInfo, spec: JsonObject): JsonObject {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const attributes = isObject(resourceAttributes)
    ? resourceAttributesOf(resourceAttributes)
    : pathAttributesOf(isObject(nonResourceAttributes) ? nonResourceAttributes : {});
  const { allowed, reason } = core.authorizer.authorize(user, attributes);
  return { allowed, ...(reason === '' ? {} : { reason }) };
}

/** The user a review asks about. */
function subjectOf(spec: JsonObject): UserInfo {
  const { user, groups, uid } = spec;
  return {
    username: typeof user === 'string' ? user : '',
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
}

/** Either a resource or a path is asked about, never both. */
function checkAttributes(spec: JsonObject): FieldError[] {
  const resource = spec['resourceAttributes'];
  const path = spec['nonResourceAttributes'];
  if ((resource === undefined) !== (path === undefined)) return [];
  const name = resource === undefined ? 'resourceAttributes' : 'nonResourceAttributes';
  const text = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid(`spec.${name}`, (resource === undefined ? null : path) as Json, text)];
}

const answered = (errors: FieldError[], status: () => JsonObject) =>
  errors.length > 0 ? { errors } : { status: status() };

const selfSubjectAccess: Review = (call, spec) =>
  answered(checkAttributes(spec), () => judged(call, call.user, spec));

function checkSubject(spec: JsonObject): FieldError[] {
  const groups = spec['groups'];
  if (spec['user'] || (Array.isArray(groups) && groups.length > 0)) return [];
  return [invalid('spec.user', '', 'at least one of user or group must be specified')];
}

const subjectAccess: Review = (call, spec) =>
  answered([...checkAttributes(spec), ...checkSubject(spec)], () => judged(call, subjectOf(spec), spec));

const localSubjectAccess: Review = (call, spec) => {
  const attributes = isObject(spec['resourceAttributes']) ? spec['resourceAttributes'] : {};
  const namespace = attributes['namespace'] ?? '';
  const elsewhere =
    namespace === call.namespace
      ? []
      : [invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace')];
  return answered([...checkAttributes(spec), ...checkSubject(spec), ...elsewhere], () =>
    judged(call, subjectOf(spec), spec),
  );
};

const selfSubjectRules: Review = (call, spec) => {
  const rules = call.core.authorizer.rulesFor(call.user, String(spec['namespace'] ?? ''));
  const status: JsonObject = {
    resourceRules: rules.filter((rule) => rule.resources.length > 0).map(ruleJson),
    nonResourceRules: rules.filter((rule) => rule.nonResourceURLs.length > 0).map(ruleJson),
    incomplete: false,
  };
  return answered(
    spec['namespace'] ? [] : [required('spec.namespace', 'no namespace on request')],
    () => status,
  );
};

const tokenReview: Review = (call, spec) => {
  const token = spec['token'];
  const user = typeof token === 'string' ? call.core.authenticator?.user(token) : undefined;
  return answered(token ? [] : [required('spec.token')], () =>
    user ? { authenticated: true, user: userJson(user) } : { user: {}, error: 'invalid bearer token' },
  );
};

const selfSubject: Review = (call) => ({ status: { userInfo: userJson(call.user) } });

async function answer(call: Call, review: Review): Promise<HttpResponse> {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  const object = decodeBody(call, options);
  const outcome = review(call, specOf(object));
  if ('errors' in outcome) throw invalidError({ group: call.resource.group, kind: '' }, '', outcome.errors);
  const { metadata, ...rest } = object;
  const stamped = review === selfSubject ? { creationTimestamp: formatTime(call.core.clock.now()) } : {};
  const reviewed = { ...rest, metadata: { ...metadata, ...stamped }, status: outcome.status };
  return objectResponse(call, 201, reviewed as unknown as KubeObject);
}

const strategy = (review: Review): Strategy => ({
  nameRule: checkDns1123Subdomain,
  answer: (call) => answer(call, review),
});

/** By store table, like the strategies of kinds that are stored. */
export const REVIEWS: Readonly<Record<string, Strategy>> = {
  'localsubjectaccessreviews.authorization.k8s.io': strategy(localSubjectAccess),
  'selfsubjectaccessreviews.authorization.k8s.io': strategy(selfSubjectAccess),
  'selfsubjectrulesreviews.authorization.k8s.io': strategy(selfSubjectRules),
  'selfsubjectreviews.authentication.k8s.io': strategy(selfSubject),
  'subjectaccessreviews.authorization.k8s.io': strategy(subjectAccess),
  'tokenreviews.authentication.k8s.io': strategy(tokenReview),
};
