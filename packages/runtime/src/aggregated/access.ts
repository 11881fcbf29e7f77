// Authorizes users with SubjectAccessReviews and caches the results briefly, as aggregated API servers usually do.

import { BoundedMap } from '@lapse/base/boundedMap';
import type { Clock } from '@lapse/base/clock';
import { type Millis, seconds } from '@lapse/base/instant';
import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import type { ParsedRequest } from './path.ts';
import type { User } from './requestHeader.ts';

interface Review extends KubeObject {
  spec: object;
  status?: { allowed?: boolean; denied?: boolean; reason?: string };
}
const SubjectAccessReview = defineKind<Review>({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  resource: 'subjectaccessreviews',
  namespaced: false,
});

export interface Access {
  readonly allowed: boolean;
  readonly reason: string;
}

export type Authorizer = (user: User, parsed: ParsedRequest, method: string) => Promise<Access>;

const REMEMBERED: Millis = seconds(10);
const MAX_CACHED = 4096;

export function reviewingAuthorizer(client: Pick<Client, 'create'>, clock: Clock): Authorizer {
  const cached = new BoundedMap<string, { access: Access; until: number }>(MAX_CACHED);
  return async (user, parsed, method) => {
    const spec = {
      user: user.name,
      uid: user.uid,
      groups: user.groups,
      extra: user.extra,
      ...attributes(parsed, method),
    };
    const question = JSON.stringify(spec);
    const known = cached.get(question);
    if (known !== undefined && known.until > clock.elapsed()) return known.access;
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
    const { status = {} } = objectOf(await client.create(SubjectAccessReview, review));
    const access = {
      allowed: status.allowed === true && status.denied !== true,
      reason: status.reason ?? '',
    };
    cached.set(question, { access, until: clock.elapsed() + REMEMBERED });
    return access;
  };
}

function attributes(parsed: ParsedRequest, method: string): object {
  if (parsed.kind === 'path')
    return { nonResourceAttributes: { path: parsed.path, verb: method.toLowerCase() } };
  const { verb, group, version, resource, subresource, namespace, name } = parsed;
  return { resourceAttributes: { verb, group, version, resource, subresource, namespace, name } };
}
