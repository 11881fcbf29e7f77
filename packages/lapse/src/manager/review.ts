// Determines which rights a process needs and which of them it lacks, with access reviews. Each review is sent once.
// Nothing else is written.

import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import { type ControllerDefinition, type Right, rightsOf } from '@lapse/runtime/definition';
import type { LocalRight } from '#controllers/family';
import type { AssembledFamily } from './assemble.ts';

interface AccessReview extends KubeObject {
  spec: { resourceAttributes: Readonly<Record<string, string>> };
  status?: { allowed?: boolean };
}
const SelfSubjectAccessReview = defineKind<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  resource: 'selfsubjectaccessreviews',
  namespaced: false,
});

type Named = Right & Pick<LocalRight, 'names'>;

/** Rights of every process, independent of its controllers. */
export const EVENT_RIGHTS: readonly Right[] = [
  { group: 'events.k8s.io', resource: 'events', verbs: ['create', 'patch'] },
];
/** The default leases of an active process and of a dry run. */
export const LEASES: readonly string[] = ['lapse', 'lapse-dry-run'];
export const leaseRights = (names: readonly string[]): readonly Named[] => [
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['create', 'get', 'update'], names },
];

export interface NeedsOptions {
  readonly families: readonly AssembledFamily[];
  readonly namespace?: string;
  readonly lease?: { readonly namespace: string; readonly name: string } | undefined;
}

export interface Needs {
  readonly who: string;
  readonly rights: readonly Named[];
  readonly where: string | undefined;
}

export function needsOf({ families, namespace, lease }: NeedsOptions): Needs[] {
  const needs: Needs[] = [{ who: 'events', rights: EVENT_RIGHTS, where: namespace }];
  if (lease !== undefined)
    needs.push({ who: 'leader election', rights: leaseRights([lease.name]), where: lease.namespace });
  for (const { family, rights = [] } of families)
    for (const right of rights) needs.push({ who: family.name, rights: [right], where: right.namespace });
  for (const { controllers } of families)
    for (const definition of controllers)
      needs.push({
        who: definition.name,
        rights: rightsOf(definition),
        where: namespaceOf(definition, namespace),
      });
  return needs;
}

/** A controller of one namespace needs its rights only there. */
const namespaceOf = (definition: ControllerDefinition, all: string | undefined): string | undefined =>
  all ?? definition.namespace;

/** A missing verb in a namespace (undefined: cluster-wide). */
export interface Missing {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly namespace?: string;
}

/** For example `delete jobs.batch in team-a`. */
export const describeMissing = ({ verb, resource, group, namespace }: Missing): string =>
  `${verb} ${resource}${group === '' ? '' : `.${group}`}${namespace === undefined ? '' : ` in ${namespace}`}`;

export type Reviewer = (rights: Needs['rights'], namespace: string | undefined) => Promise<Missing[]>;

/** Sends each access review once. */
export function createReviewer(client: Client): Reviewer {
  const answers = new Map<string, Promise<boolean>>();
  const ask = (attributes: Readonly<Record<string, string>>): Promise<boolean> => {
    const question = JSON.stringify(attributes);
    const answer =
      answers.get(question) ??
      client
        .create(SelfSubjectAccessReview, {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          metadata: {},
          spec: { resourceAttributes: attributes },
        })
        .then((created) => objectOf(created).status?.allowed === true);
    answers.set(question, answer);
    return answer;
  };
  return async (rights, namespace) => {
    const place = namespace === undefined ? {} : { namespace };
    const asked = rights.flatMap((right) =>
      right.verbs.map(async (verb) => {
        if (await ask({ ...attributesOf(right, verb), ...place })) return [];
        return [{ group: right.group, resource: right.resource, verb, ...place }];
      }),
    );
    return (await Promise.all(asked)).flat();
  };
}

function attributesOf({ group, resource: path, names: [name] = [] }: Named, verb: string) {
  const [resource = '', subresource] = path.split('/');
  return {
    group,
    resource,
    verb,
    ...(subresource === undefined ? {} : { subresource }),
    ...(name === undefined ? {} : { name }),
  };
}
