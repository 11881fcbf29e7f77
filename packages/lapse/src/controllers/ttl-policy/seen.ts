// An object as the policies at work see it, each in a cache of its own: which of them mean it, and whether they speak of the
// same version.

import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import { matchesLabels } from '@lapse/kube/api/selectors';
import type { Pass } from '@lapse/runtime/pass';
import { NOT_MEANT } from './book.ts';
import { isInScope } from './compile.ts';
import type { Seen } from './compute.ts';
import { type ActivePolicy, identityOf, isBlind, isSynced } from './policies.ts';

export type SeenByActive = Seen<ActivePolicy>;

/**
 * The object as the policies see it that mean it; what others knew about it is forgotten. Undefined while caches differ:
 * about the version, or about whether it is there at all, which its labels decide.
 */
export function look(
  pass: Pass,
  policies: Iterable<ActivePolicy>,
  key: ObjectKey,
): readonly SeenByActive[] | undefined {
  const seen: SeenByActive[] = [];
  const without: ActivePolicy[] = [];
  for (const policy of policies) {
    if (!isCurrent(pass, policy)) continue;
    const object = policy.view?.reader.get(key);
    if (object === undefined) {
      policy.book.forget(key);
      without.push(policy);
    } else if (isMeant(policy, key)) seen.push({ policy, object });
    else policy.book.record(keyOf(object), NOT_MEANT);
  }
  const agreed = ofOneVersion(seen);
  if (agreed === undefined || agreed.length === 0) return agreed;
  return without.some((policy) => misses(policy, key, agreed[0]!)) ? undefined : agreed;
}

/** Whether a policy selects what another one sees, and has not heard of it yet. */
const misses = (policy: ActivePolicy, key: ObjectKey, { object }: SeenByActive): boolean =>
  isSynced(policy) &&
  !isBlind(policy) &&
  isMeant(policy, key) &&
  matchesLabels(policy.labels, object.metadata.labels ?? {});

/** A policy that was changed or deleted just now has no say until its own pass has seen it. */
function isCurrent(pass: Pass, { key, of, identity }: ActivePolicy): boolean {
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
