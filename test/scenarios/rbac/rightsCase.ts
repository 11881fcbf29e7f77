// A case: a sequence in which a family needs each of its rights, and the results that must follow.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { RequestRecord } from '@lapse/simulation/wire';
import type { Installation } from 'lapse/cli/manifests/installation';
import type { Family } from 'lapse/controllers/family';
import { expect } from 'vitest';
import type { World } from './world.ts';

export interface RightsCase {
  /** Families whose kinds are served. Default: the family itself. */
  readonly kinds?: readonly Family[];
  /** By name. */
  readonly simulatedControllers?: readonly string[];
  /** What operators grant for the targets of policies, Cleaners and captures: `configmaps`. */
  readonly granted?: readonly string[];
  /** The values of the chart's `config`. */
  readonly configuration?: JsonObject;
  /** Throws if an expected result is missing. */
  run(world: World): Promise<void>;
}

export interface RightsResult {
  /** Requests that were refused for a missing right, as reported by the API server. */
  readonly refused: readonly string[];
  /** The expected results that are missing. */
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

/** A condition as `True Completed`; undefined if it does not exist. */
export async function conditionOf(
  { userClient }: World,
  ref: string,
  type = 'Ready',
): Promise<string | undefined> {
  const object = await userClient.get<WithConditions>(ref);
  const found = object?.status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
}

export async function expectGone({ userClient }: World, ...refs: readonly string[]): Promise<void> {
  for (const ref of refs) expect(await userClient.get(ref), ref).toBeUndefined();
}

/** A user changes an object just before it is written, so that one write conflicts. */
export function loseRace({ faults, userClient }: World, request: string, ref: string): void {
  faults.justBefore(request, () =>
    userClient.patch(ref, { metadata: { labels: { changed: 'just-before' } } }),
  );
}

/** Grants the account the rights that operators allow on these kinds. */
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
