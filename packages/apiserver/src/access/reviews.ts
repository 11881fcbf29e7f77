// Access reviews: checkedReview by the authorizer that also checks requests, and never stored.

import { formatTime } from '@lapse/base/instant';
import { badRequest } from '@lapse/kube/api/errors';
import { type FieldError, invalidError } from '@lapse/kube/api/fieldErrors';
import type { HttpResponse } from '@lapse/kube/api/http';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import { decodeBody } from '../decode/decode.ts';
import { parseWriteOptions } from '../http/query.ts';
import { objectResponse } from '../http/respond.ts';
import { type Resource, specOf, type UserInfo } from '../resources/resource.ts';
import { pathAttributesOf, resourceAttributesOf } from './attributes.ts';
import { audiencesOf } from './bearer.ts';
import { ruleJson } from './policyRule.ts';
import { checkEmptyMeta, checkLocal, checkSpec } from './reviewChecks.ts';
import { userJson } from './userJson.ts';

const NO_TOKEN = 'invalid bearer token';

/** Returns the status of a review, or why the review is invalid. */
type Review = (
  call: Call,
  spec: JsonObject,
  review: KubeObject,
) => { status: JsonObject } | { errors: FieldError[] };

function accessStatus({ core }: Call, user: UserInfo, spec: JsonObject): JsonObject {
  const { resourceAttributes, nonResourceAttributes } = spec;
  const attributes = isObject(resourceAttributes)
    ? resourceAttributesOf(resourceAttributes)
    : pathAttributesOf(isObject(nonResourceAttributes) ? nonResourceAttributes : {});
  const { allowed, reason } = core.authorizer.authorize(user, attributes);
  return { allowed, ...(reason === '' ? {} : { reason }) };
}

/** The user that the review is about. */
function subjectOf(spec: JsonObject): UserInfo {
  const { user, groups, uid } = spec;
  return {
    username: typeof user === 'string' ? user : '',
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  };
}

const checkedReview = (errors: FieldError[], status: () => JsonObject) =>
  errors.length > 0 ? { errors } : { status: status() };

const selfSubjectAccess: Review = (call, spec, review) =>
  checkedReview([...checkSpec(spec, { self: true }), ...checkEmptyMeta(review, { local: false })], () =>
    accessStatus(call, call.user, spec),
  );

const subjectAccess: Review = (call, spec, review) =>
  checkedReview([...checkSpec(spec, { self: false }), ...checkEmptyMeta(review, { local: false })], () =>
    accessStatus(call, subjectOf(spec), spec),
  );

const localSubjectAccess: Review = (call, spec, review) => {
  const errors = [
    ...checkSpec(spec, { self: false }),
    ...checkEmptyMeta(review, { local: true }),
    ...checkLocal(spec, call.namespace),
  ];
  return checkedReview(errors, () => accessStatus(call, subjectOf(spec), spec));
};

const selfSubjectRules: Review = (call, spec) => {
  const { namespace } = spec;
  if (typeof namespace !== 'string' || namespace === '') throw badRequest('no namespace on request');
  const rules = call.core.authorizer.rulesFor(call.user, namespace);
  const missing = call.core.authorizer.unresolved(call.user, namespace);
  return {
    status: {
      resourceRules: rules.filter((rule) => rule.resources.length > 0).map(ruleJson),
      nonResourceRules: rules.filter((rule) => rule.nonResourceURLs.length > 0).map(ruleJson),
      incomplete: false,
      ...(missing === '' ? {} : { evaluationError: missing }),
    },
  };
};

const tokenReview: Review = (call, spec) => {
  const { token, audiences } = spec;
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  const named = Array.isArray(audiences) ? audiences.filter((name) => typeof name === 'string') : [];
  // Without an authenticator, tokens of service accounts are still valid.
  const { authenticator, tokens } = call.core;
  const result = (authenticator ?? tokens).authenticate(String(token), audiencesOf(named));
  switch (result.kind) {
    case 'user':
      return {
        status: { authenticated: true, user: userJson(result.user), audiences: [...result.audiences] },
      };
    case 'refused':
      return { status: { user: {}, error: `[${NO_TOKEN}, ${result.why}]` } };
    case 'foreign':
      return { status: { user: {}, error: NO_TOKEN } };
  }
};

const selfSubject: Review = (call) => ({ status: { userInfo: userJson(call.user) } });

async function respond(call: Call, review: Review): Promise<HttpResponse> {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  const object = decodeBody(call, options);
  const { namespace } = call;
  if ((object.metadata.namespace ?? namespace) !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (namespace !== undefined) object.metadata.namespace = namespace;
  const outcome = review(call, specOf(object), object);
  if ('errors' in outcome) throw invalidError({ group: call.resource.group, kind: '' }, '', outcome.errors);
  const reviewed = {
    ...object,
    metadata: {
      ...object.metadata,
      ...(review === selfSubject ? { creationTimestamp: formatTime(call.core.clock.now()) } : {}),
    },
    // kube-apiserver does not return the spec.
    ...(review === selfSubjectRules ? { spec: {} } : {}),
    status: outcome.status,
  };
  return objectResponse(call, 201, reviewed as unknown as KubeObject);
}

const REVIEWS: Readonly<Record<string, Review>> = {
  'localsubjectaccessreviews.authorization.k8s.io': localSubjectAccess,
  'selfsubjectaccessreviews.authorization.k8s.io': selfSubjectAccess,
  'selfsubjectrulesreviews.authorization.k8s.io': selfSubjectRules,
  'selfsubjectreviews.authentication.k8s.io': selfSubject,
  'subjectaccessreviews.authorization.k8s.io': subjectAccess,
  'tokenreviews.authentication.k8s.io': tokenReview,
};

export const isReview = (resource: string): boolean => Object.hasOwn(REVIEWS, resource);

/** Creates the response to a POST of a review, which is never stored. Undefined for other resources. */
export function reviewHandler(resource: Resource): ((call: Call) => Promise<HttpResponse>) | undefined {
  if (resource.custom || !isReview(resource.storage)) return undefined;
  const review = REVIEWS[resource.storage]!;
  return (call) => respond(call, review);
}
