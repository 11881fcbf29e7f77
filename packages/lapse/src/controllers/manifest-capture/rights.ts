// Reviews the rights of a capture. A request names objects and returns their contents: without a review, every user
// who may create requests could read everything that the controller may read.

import type { Client } from '@lapse/kube/client/client';
import { describeNeeds, type Need, reviewSubject, type Subject } from '#authors/accessReview';
import type { Target } from './targets.ts';

/**
 * The targets that the subject may not read. Reviews whole kinds first, as most users may read all or no objects of
 * a kind.
 */
export async function reviewTargets(
  client: Pick<Client, 'create'>,
  subject: Subject,
  targets: readonly Target[],
): Promise<Need[]> {
  const byKind = Map.groupBy(targets, kindNeedText);
  const kindNeeds = [...byKind.values()].map(([first]) => kindNeed(first!));
  const missing = new Set((await reviewSubject(client, subject, kindNeeds)).map(needText));
  const open = targets.filter((target) => missing.has(kindNeedText(target)));
  const needs = open.map((target) => ({ ...kindNeed(target), name: target.name }));
  return reviewSubject(client, subject, needs);
}

/** A Namespace counts as part of itself, as in the API server's authorization. */
const kindNeed = ({ served, namespace, name }: Target): Need => ({
  verb: 'get',
  group: served.group,
  resource: served.resource,
  namespace: namespace === '' ? name : namespace,
});
const needText = ({ group, resource }: Need): string => `${resource}.${group}`;
const kindNeedText = (target: Target): string => needText(kindNeed(target));

/** Limit of objects named in a message. */
const MOST_NAMED = 10;

export function describeMissing(subject: Subject, missing: readonly Need[]): string {
  const more = missing.length > MOST_NAMED ? `, and ${missing.length - MOST_NAMED} more` : '';
  return `${subject.username} may not ${describeNeeds(missing.slice(0, MOST_NAMED))}${more}`;
}
