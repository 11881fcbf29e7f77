// Whose rights count. Whatever acts for an author asks the API server first: may this user, this service account, or we
// ourselves do that, there? Answers are the server's own (SubjectAccessReview); no answer is an error, never a yes.

import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';

/** Somebody as the API server knows them. */
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

/** One thing somebody must be allowed to do. */
export interface Need {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** Unset: in all namespaces, or at the cluster scope. */
  readonly namespace?: string;
  /** Unset: whatever the name. */
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

/** The groups and the name under which a service account calls. */
export const accountSubject = ({ namespace, name }: Account): Subject => ({
  username: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});

/** What is needed to act as a service account. */
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

/** What of `needs` the subject may not do. Throws when the server gives no verdict. */
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

/** What of `needs` we may not do ourselves. */
export const reviewSelf = (client: Pick<Client, 'create'>, needs: readonly Need[]): Promise<Need[]> =>
  missingOf(client, SelfSubjectAccessReview, {}, needs);

async function missingOf(
  client: Pick<Client, 'create'>,
  kind: typeof SubjectAccessReview,
  who: object,
  needs: readonly Need[],
): Promise<Need[]> {
  const allowed = await Promise.all(
    needs.map((need) => isAllowed(client, kind, { ...who, ...asking(need) })),
  );
  return needs.filter((_, i) => !allowed[i]);
}

const asking = ({ verb, group, resource, namespace, name }: Need): object => ({
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
