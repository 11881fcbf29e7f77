// Gathers an object from the caches of the active policies: which policies select it, and whether the caches have the
// same version.

import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { matchesLabels } from '@lapse/kube/api/selectors';
import type { Client } from '@lapse/kube/client/client';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Seen } from './decide.ts';
import { type ActivePolicy, identityOf, isBlind, isSynced } from './policies.ts';
import { isInScope } from './scope.ts';
import { OUT_OF_SCOPE } from './targetRecords.ts';

export type SeenByActive = Seen<ActivePolicy>;

/**
 * The object in the cache of each policy that selects it; the records of the other policies are removed. Undefined while
 * the caches differ in the version of the object, or in its existence (which depends on its labels).
 */
export function gather(
  ctx: ReconcileContext,
  policies: Iterable<ActivePolicy>,
  key: ObjectKey,
): readonly SeenByActive[] | undefined {
  const seen: SeenByActive[] = [];
  const without: ActivePolicy[] = [];
  for (const policy of policies) {
    if (!isCurrent(ctx, policy)) continue;
    const object = policy.view?.reader.get(key);
    if (object === undefined) {
      policy.records.forget(key);
      without.push(policy);
    } else if (isInNamespaces(policy, key)) seen.push({ policy, object });
    else policy.records.record(keyOf(object), OUT_OF_SCOPE);
  }
  const agreed = ofOneVersion(seen);
  if (agreed === undefined || agreed.length === 0) return agreed;
  return without.some((policy) => misses(policy, key, agreed[0]!)) ? undefined : agreed;
}

/** Whether the policy selects an object that is in the cache of another policy but not yet in its own. */
const misses = (policy: ActivePolicy, key: ObjectKey, { object }: SeenByActive): boolean =>
  isSynced(policy) &&
  !isBlind(policy) &&
  isInNamespaces(policy, key) &&
  matchesLabels(policy.labels, object.metadata.labels ?? {});

/** A policy that was just changed or deleted is ignored until it has been reconciled. */
function isCurrent(ctx: ReconcileContext, { key, of, identity }: ActivePolicy): boolean {
  const policy = ctx.cache.get(of, key);
  return policy !== undefined && identityOf(policy) === identity;
}

/** Whether both policies read the live object in the same form. */
const isSameForm = (a: Kind, b: Kind): boolean =>
  a.version === b.version && a.representation === b.representation;

/** Whether the policy includes the namespace of this key. */
const isInNamespaces = (policy: ActivePolicy, key: ObjectKey): boolean =>
  isInScope(policy, key, (name) => {
    const namespace = policy.namespaces?.reader.get({ name });
    return namespace === undefined ? undefined : (namespace.metadata.labels ?? {});
  });

/**
 * The objects if all have the same version; undefined while they differ: each cache has its own watch, and a stale one
 * catches up soon. If the caches differ, policies that may no longer watch are left out.
 */
function ofOneVersion(seen: readonly SeenByActive[]): readonly SeenByActive[] | undefined {
  if (isOneVersion(seen)) return seen;
  const fresh = seen.filter(({ policy }) => !isBlind(policy));
  return fresh.length > 0 && isOneVersion(fresh) ? fresh : undefined;
}

function isOneVersion([first, ...others]: readonly SeenByActive[]): boolean {
  const { uid, resourceVersion } = first?.object.metadata ?? {};
  return others.every(
    ({ object: { metadata } }) => metadata.uid === uid && metadata.resourceVersion === resourceVersion,
  );
}

/** The live object for every policy that selects it now; `changed` if the policies read it in different forms. */
export function gatherLive(
  policies: Iterable<ActivePolicy>,
  by: ActivePolicy,
  key: ObjectKey,
  live: KubeObject,
): readonly SeenByActive[] | 'changed' {
  const seen: SeenByActive[] = [];
  for (const policy of policies) {
    if (!isInNamespaces(policy, key) || !matchesLabels(policy.labels, live.metadata.labels ?? {})) continue;
    if (!isSameForm(policy.kind, by.kind)) return 'changed';
    seen.push({ policy, object: live });
  }
  return seen;
}

/** Reads the live object by a list of one: every policy is reviewed for the permission to list, but not to get. */
export async function readLive<T extends KubeObject>(
  client: Pick<Client, 'list'>,
  kind: Kind<T>,
  { namespace, name }: ObjectKey,
): Promise<T | undefined> {
  const fieldSelector = `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`;
  const { items } = await client.list(kind, {
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    fieldSelector,
    limit: 0,
  });
  return items.find(({ metadata }) => metadata.name === name);
}
