// Access reviews. Before Lapse acts for an author, it asks the API server (SubjectAccessReview) whether the user, the
// service account or Lapse itself has the permission. A failed review is an error and never counts as allowed.

import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';

/** A user or service account as the API server identifies it. */
export interface Subject {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** A permission that a subject needs. */
export interface Need {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Unset: all namespaces, or cluster scope. */
  readonly namespace?: string;
  /** Unset: any name. */
  readonly name?: string;
}

interface AccessReview extends KubeObject {
  spec: object;
  status?: { allowed?: boolean; denied?: boolean; reason?: string };
}
const SelfSubjectAccessReview = defineKind<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  resource: 'selfsubjectaccessreviews',
  namespaced: false,
});
const SubjectAccessReview = defineKind<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  resource: 'subjectaccessreviews',
  namespaced: false,
});

/** The username and groups of a service account. */
export const accountSubject = ({ namespace, name }: Account): Subject => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});

/** The permission to impersonate a service account. */
export const impersonationOf = ({ namespace, name }: Account): Need => ({
  verb: 'impersonate',
  group: '',
  resource: 'serviceaccounts',
  namespace,
  name,
});

/** `delete pipelineruns.tekton.dev in namespace ci`. */
export function describeNeed({ verb, group, resource, namespace, name }: Need): string {
  const what = group === '' ? resource : `${resource}.${group}`;
  const which = name === undefined ? what : `${what} ${name}`;
  return namespace === undefined ? `${verb} ${which}` : `${verb} ${which} in namespace ${namespace}`;
}

export const describeNeeds = (needs: readonly Need[]): string => needs.map(describeNeed).join(', ');

/** `jane may not delete jobs.batch in namespace ci`; undefined if nothing is missing. */
export const describeMissing = (
  { username }: Pick<Subject, 'username'>,
  missing: readonly Need[],
): string | undefined => (missing.length === 0 ? undefined : `${username} may not ${describeNeeds(missing)}`);

/** Returns the permissions that the subject lacks. Throws if the API server does not answer the review. */
export function reviewSubject(
  client: Pick<Client, 'create'>,
  subject: Subject,
  needs: readonly Need[],
): Promise<Need[]> {
  const { username, uid, groups = [], extra } = subject;
  const who = {
    user: username,
    ...(uid === undefined ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
  return missingOf(client, SubjectAccessReview, who, needs);
}

/** Returns the permissions that Lapse itself lacks. */
export const reviewSelf = (client: Pick<Client, 'create'>, needs: readonly Need[]): Promise<Need[]> =>
  missingOf(client, SelfSubjectAccessReview, {}, needs);

async function missingOf(
  client: Pick<Client, 'create'>,
  kind: typeof SubjectAccessReview,
  who: object,
  needs: readonly Need[],
): Promise<Need[]> {
  const allowed = await Promise.all(
    needs.map((need) => isAllowed(client, kind, { ...who, ...reviewSpec(need) })),
  );
  return needs.filter((_, i) => !allowed[i]);
}

const reviewSpec = ({ verb, group, resource, namespace, name }: Need): object => ({
  resourceAttributes: {
    verb,
    group,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  },
});

async function isAllowed(
  client: Pick<Client, 'create'>,
  kind: typeof SubjectAccessReview,
  spec: object,
): Promise<boolean> {
  const review: AccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: kind.kind,
    metadata: {},
    spec,
  };
  const answer = await client.create(kind, review);
  if (answer.kind !== 'created') throw answer.error;
  return answer.object.status?.allowed === true && answer.object.status.denied !== true;
}
