// The rights that the parts of a Cleaner require, as access reviews.

import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Need } from '#authors/accessReview';
import type { Driver } from '#helm/storage';
import type { Target } from './spec.ts';

const needOf = (verb: string, kind: ServedKind, namespace: string, name?: string): Need => ({
  verb,
  group: kind.group,
  resource: kind.resource,
  namespace,
  ...(name ? { name } : {}),
});

export const needToFind = ({ reference: { name } }: Target, kind: ServedKind, namespace: string): Need =>
  needOf(name ? 'get' : 'list', kind, namespace, name);

/** Rights required so that conditions can read a target and watch its changes. */
export function needsToSee(target: Target, kind: ServedKind, namespace: string): Need[] {
  if (!target.included) return [];
  const { name } = target.reference;
  return [needToFind(target, kind, namespace), needOf('watch', kind, namespace, name)];
}

/** Rights required to find and delete a target. */
export function needsToDelete(target: Target, kind: ServedKind, namespace: string): Need[] {
  if (!target.delete) return [];
  const { name } = target.reference;
  return [needToFind(target, kind, namespace), needOf('delete', kind, namespace, name)];
}

/** Rights required to read and purge the records of a release. Rights to its objects are reviewed one by one. */
export const needsForHelm = (namespace: string, driver: Driver): Need[] =>
  ['list', 'delete'].map((verb) => helmNeed(verb, namespace, driver));

/** The right required to mark the record of a release whose uninstall is incomplete. */
export const needToMark = (namespace: string, driver: Driver): Need => helmNeed('patch', namespace, driver);

const helmNeed = (verb: string, namespace: string, driver: Driver): Need => ({
  verb,
  group: '',
  resource: `${driver}s`,
  namespace,
});

const DRIVERS: readonly Driver[] = ['secret', 'configmap'];

/**
 * Returns why a release may not be uninstalled, or undefined. Rights to one of the places where Helm keeps records
 * are enough.
 */
export async function refusalOfHelm(
  namespace: string,
  refusalOf: (needs: readonly Need[]) => Promise<string | undefined>,
): Promise<string | undefined> {
  const refusals: string[] = [];
  for (const driver of DRIVERS) {
    const refusal = await refusalOf(needsForHelm(namespace, driver));
    if (refusal === undefined) return undefined;
    refusals.push(refusal);
  }
  return refusals.join('; nor: ');
}
