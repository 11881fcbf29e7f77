// An object as the policies at work see it, each in a cache of its own: which of them mean it, and whether they speak of the
// same version.

import type { Kind, ObjectKey } from '#api/kind';
import type { Pass } from '#runtime/pass';
import { isInScope } from './compile.ts';
import type { Seen } from './compute.ts';
import { type ActivePolicy, identityOf, isBlind } from './policies.ts';

export type SeenByActive = Seen<ActivePolicy>;

/** A policy that was changed or deleted just now has no say until its own pass has seen it. */
export function isCurrent(pass: Pass, { key, of, identity }: ActivePolicy): boolean {
  const policy = pass.cache.get(of, key);
  return policy !== undefined && identityOf(policy) === identity;
}

/** Whether one look at the live object is enough for both. */
export const isSameLook = (a: Kind, b: Kind): boolean =>
  a.version === b.version && a.representation === b.representation;

/** Whether the policy means what has this key, as far as its namespace goes. */
export const isMeant = (policy: ActivePolicy, key: ObjectKey): boolean =>
  isInScope(policy, key, (name) => {
    const namespace = policy.namespaces?.reader.get({ name });
    return namespace === undefined ? undefined : (namespace.metadata.labels ?? {});
  });

/**
 * Copies of one version; undefined while they differ: each cache has its own watch, and the one that is behind will have
 * caught up in a moment. Not so those of policies that may not watch any more: where they differ, they are left out.
 */
export function ofOneVersion(seen: readonly SeenByActive[]): readonly SeenByActive[] | undefined {
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
