// What the end of a namespace comes to: which kinds to empty, what remains of each, and the conditions that say so, in
// the words of kube-controller-manager. Pure.

import { formatTime, type Instant, isDue, parseTime, plus, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { Condition, Namespace, Pod } from '@lapse/kube/api/kinds/builtin';
import type { ObjectMeta } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';

export const FINALIZER = 'kubernetes';

/** Servers that were not asked for the deletion may still create: they are given this long to notice. */
const GRACE = seconds(5);
/** How long finalizers take, as a guess. */
const FINALIZER_ESTIMATE = 15;

export type NamespaceStep =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'wait'; readonly until: Instant }
  | { readonly kind: 'empty'; readonly since: Instant };

export function computeNamespaceStep({ metadata, spec }: Namespace, now: Instant): NamespaceStep {
  if (metadata.deletionTimestamp === undefined || (spec?.finalizers ?? []).length === 0)
    return { kind: 'nothing' };
  const since = parseTime(metadata.deletionTimestamp);
  const until = plus(since, GRACE);
  return isDue(until, now) ? { kind: 'empty', since } : { kind: 'wait', until };
}

export interface ContentKind extends Kind {
  readonly canDeleteCollection: boolean;
}

/** Kinds whose objects live in namespaces and can be deleted, each in its preferred version; Pods first. */
export function computeContentKinds(served: readonly ServedKind[]): ContentKind[] {
  const chosen = new Map<string, ContentKind>();
  for (const { group, version, kind, resource, namespaced, verbs } of served) {
    const id = `${group}/${resource}`;
    if (!namespaced || chosen.has(id) || !verbs.includes('delete')) continue;
    const canDeleteCollection = verbs.includes('deletecollection');
    chosen.set(id, { group, version, kind, resource, namespaced, canDeleteCollection });
  }
  return [...chosen.values()].sort((a, b) => Number(isPods(b)) - Number(isPods(a)));
}

export const isPods = ({ group, resource }: Kind): boolean => group === '' && resource === 'pods';

/** Seconds until the slowest Pod has ended; 0 when that time is over. */
export function computePodEstimate(pods: readonly Pod[], since: Instant, now: Instant): number {
  const graces = pods
    .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
    .map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0);
  const longest = Math.max(0, ...graces);
  return isDue(plus(since, seconds(longest)), now) ? 0 : longest;
}

/** What is left of one kind after everything was deleted. */
export interface Remains {
  readonly kind: Kind;
  readonly count: number;
  readonly finalizers: ReadonlyMap<string, number>;
  /** Seconds to wait before looking again. */
  readonly estimate: number;
  /** Nothing keeps them, and still they are there. */
  readonly problem?: string;
}

export function computeRemains(
  kind: Kind,
  items: readonly { metadata: ObjectMeta }[],
  where: { namespace: string; estimate: number },
): Remains {
  const finalizers = new Map<string, number>();
  for (const { metadata } of items)
    for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
  const remains = { kind, count: items.length, finalizers };
  if (items.length === 0) return { ...remains, estimate: 0 };
  if (where.estimate > 0) return { ...remains, estimate: where.estimate };
  if (finalizers.size > 0) return { ...remains, estimate: FINALIZER_ESTIMATE };
  const { group, version, resource } = kind;
  const problem = `unexpected items still remain in namespace: ${where.namespace} for gvr: ${group}/${version}, Resource=${resource}`;
  return { ...remains, estimate: 0, problem };
}

/** What a pass over a namespace found out. */
export interface Findings {
  readonly discovery?: string;
  readonly problems: readonly string[];
  readonly remains: readonly Remains[];
}

interface Said {
  readonly reason: string;
  readonly message: string;
}

/** Condition types in order, and what each says when all is well. */
const ALL_WELL: Readonly<Record<string, Said>> = {
  NamespaceDeletionDiscoveryFailure: {
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  NamespaceDeletionGroupVersionParsingFailure: {
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  NamespaceDeletionContentFailure: {
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
  NamespaceContentRemaining: { reason: 'ContentRemoved', message: 'All content successfully removed' },
  NamespaceFinalizersRemaining: {
    reason: 'ContentHasNoFinalizers',
    message: 'All content-preserving finalizers finished',
  },
};

/** All conditions of the namespace as they should be; undefined when they are so already. */
export function computeConditions(
  present: readonly Condition[],
  findings: Findings,
  now: Instant,
): Condition[] | undefined {
  const troubles = computeTroubles(findings);
  const next = [...present];
  let changed = false;
  for (const [type, well] of Object.entries(ALL_WELL)) {
    const trouble = troubles.get(type);
    const status = trouble === undefined ? 'False' : 'True';
    const { reason, message } = trouble ?? well;
    const at = next.findIndex((condition) => condition.type === type);
    const old = next[at];
    if (old?.status === status && old.reason === reason && old.message === message) continue;
    const lastTransitionTime = (old?.status === status && old.lastTransitionTime) || formatTime(now);
    changed = true;
    next.splice(at === -1 ? next.length : at, 1, { type, status, lastTransitionTime, reason, message });
  }
  return changed ? next : undefined;
}

function computeTroubles({ discovery, problems, remains }: Findings): Map<string, Said> {
  const troubles = new Map<string, Said>();
  const say = (type: string, reason: string, message: string) => troubles.set(type, { reason, message });
  if (discovery !== undefined) say('NamespaceDeletionDiscoveryFailure', 'DiscoveryFailed', discovery);
  if (problems.length > 0) {
    const all = [...problems].sort().join(', ');
    const message = `Failed to delete all resource types, ${problems.length} remaining: ${all}`;
    say('NamespaceDeletionContentFailure', 'ContentDeletionFailed', message);
  }
  const objects = remains.map(
    ({ kind, count }) => `${kind.resource}.${kind.group} has ${count} resource instances`,
  );
  if (objects.length > 0)
    say(
      'NamespaceContentRemaining',
      'SomeResourcesRemain',
      `Some resources are remaining: ${objects.sort().join(', ')}`,
    );
  const finalizers = [...sumFinalizers(remains)].map(([name, n]) => `${name} in ${n} resource instances`);
  if (finalizers.length > 0)
    say(
      'NamespaceFinalizersRemaining',
      'SomeFinalizersRemain',
      `Some content in the namespace has finalizers remaining: ${finalizers.sort().join(', ')}`,
    );
  return troubles;
}

function sumFinalizers(remains: readonly Remains[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { finalizers } of remains)
    for (const [name, n] of finalizers) sums.set(name, (sums.get(name) ?? 0) + n);
  return sums;
}
