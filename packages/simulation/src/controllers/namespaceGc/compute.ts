// Computes the deletion of a namespace: the kinds to delete, the remaining objects of each, and the conditions with the
// texts of kube-controller-manager. Pure.

import { type Instant, isDue, parseTime, plus, seconds } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import type { Kind } from '@lapse/kube/api/kind';
import type { Condition, Namespace, Pod } from '@lapse/kube/api/kinds/builtin';
import type { ObjectMeta } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';

export const FINALIZER = 'kubernetes';

/** Other API servers may still create objects until they observe the deletion. They have this long. */
const GRACE = seconds(5);
/** Estimated seconds that finalizers take. */
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

/** Namespaced kinds that can be deleted, each in its preferred version; Pods first. */
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

/** Seconds until the grace period of the slowest Pod ends; 0 if it has ended. */
export function computePodEstimate(pods: readonly Pod[], since: Instant, now: Instant): number {
  const graces = pods
    .filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
    .map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0);
  const longest = Math.max(0, ...graces);
  return isDue(plus(since, seconds(longest)), now) ? 0 : longest;
}

/** The objects of one kind that remain after the deletion. */
export interface RemainingContent {
  readonly kind: Kind;
  readonly count: number;
  readonly finalizers: ReadonlyMap<string, number>;
  /** Seconds to wait before the next check. */
  readonly estimate: number;
  /** The objects remain although no finalizer holds them. */
  readonly problem?: string;
}

export function computeRemains(
  kind: Kind,
  items: readonly { metadata: ObjectMeta }[],
  where: { namespace: string; estimate: number },
): RemainingContent {
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

/** The result of one reconcile of a namespace. */
export interface Findings {
  readonly discovery?: string;
  readonly problems: readonly string[];
  readonly remains: readonly RemainingContent[];
}

interface ConditionText {
  readonly reason: string;
  readonly message: string;
}

/** Condition types in order, with their reason and message when there is no problem. */
const NO_PROBLEM: Readonly<Record<string, ConditionText>> = {
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

/** The desired conditions of the namespace; undefined if they are already set. */
export function computeConditions(
  present: readonly Condition[],
  findings: Findings,
  now: Instant,
): Condition[] | undefined {
  const problemsByType = computeProblems(findings);
  let next = present;
  for (const [type, well] of Object.entries(NO_PROBLEM)) {
    const trouble = problemsByType.get(type);
    const status = trouble === undefined ? 'False' : 'True';
    next = setCondition(next, { type, status, ...(trouble ?? well) }, now);
  }
  return next === present ? undefined : [...next];
}

function computeProblems({ discovery, problems, remains }: Findings): Map<string, ConditionText> {
  const problemsByType = new Map<string, ConditionText>();
  const say = (type: string, reason: string, message: string) =>
    problemsByType.set(type, { reason, message });
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
  return problemsByType;
}

function sumFinalizers(remains: readonly RemainingContent[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { finalizers } of remains)
    for (const [name, n] of finalizers) sums.set(name, (sums.get(name) ?? 0) + n);
  return sums;
}
