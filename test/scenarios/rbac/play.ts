// What a play is: something that happens to a family, in which it needs each of its rights, and what must come of it.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { RequestRecord } from '@lapse/simulation/wire';
import type { Installation } from 'lapse/cli/manifests/installation';
import type { Family } from 'lapse/controllers/family';
import { expect } from 'vitest';
import type { World } from './world.ts';

export interface Play {
  /** Whose kinds are served; those of the family unless told. */
  readonly kinds?: readonly Family[];
  /** By name. */
  readonly standins?: readonly string[];
  /** What operators grant for the kinds that policies, Cleaners and captures are about: `configmaps`. */
  readonly granted?: readonly string[];
  /** The values of the chart's `config`. */
  readonly configuration?: JsonObject;
  /** Throws when something that should have come of it did not. */
  act(world: World): Promise<void>;
}

export interface Performance {
  /** What somebody was refused for want of a right, in the words of the API server. */
  readonly refused: readonly string[];
  /** What should have come of it and did not. */
  readonly missing?: Error;
}

export const refusedOf = (requests: readonly RequestRecord[]): string[] =>
  requests.filter(({ status }) => status === 403).map(({ message }) => message ?? '');

export const namespaceOf = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

interface WithConditions extends KubeObject {
  status?: { conditions?: Condition[] };
}

/** A condition as `True Completed`; undefined while there is none. */
export async function conditionOf(
  { hands }: World,
  ref: string,
  type = 'Ready',
): Promise<string | undefined> {
  const object = await hands.get<WithConditions>(ref);
  const found = object?.status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
}

export async function expectGone({ hands }: World, ...refs: readonly string[]): Promise<void> {
  for (const ref of refs) expect(await hands.get(ref), ref).toBeUndefined();
}

/** Somebody changes an object in the moment in which it is to be written: the race is lost once. */
export function loseRace({ faults, hands }: World, request: string, ref: string): void {
  faults.justBefore(request, () => hands.patch(ref, { metadata: { labels: { changed: 'just-before' } } }));
}

/** The account may do with these kinds what operators allow it to. */
export function grantOf(kinds: readonly string[], { namespace, name }: Installation): KubeObject[] {
  const group = 'rbac.authorization.k8s.io';
  const metadata = { name: `${name}-granted` };
  const verbs = ['get', 'list', 'watch', 'delete'];
  const rules = kinds.map((kind) => ({
    apiGroups: [kind.split('.').slice(1).join('.')],
    resources: [kind.split('.')[0]!],
    verbs,
  }));
  return [
    { apiVersion: `${group}/v1`, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    },
  ] as KubeObject[];
}
