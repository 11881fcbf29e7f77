// What must be allowed for the parts of a Cleaner, as the API server is asked about it.

import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Need } from '#deletion/rights';
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

/** What must be allowed so that conditions may see a target, and be told of its changes. */
export function needsToSee(target: Target, kind: ServedKind, namespace: string): Need[] {
  if (!target.included) return [];
  const { name } = target.reference;
  return [needToFind(target, kind, namespace), needOf('watch', kind, namespace, name)];
}

/** What must be allowed so that a target may be found and deleted. */
export function needsToDelete(target: Target, kind: ServedKind, namespace: string): Need[] {
  if (!target.delete) return [];
  const { name } = target.reference;
  return [needToFind(target, kind, namespace), needOf('delete', kind, namespace, name)];
}

/** What must be allowed so that the records of a release may be read and purged. Its objects are asked about one by one. */
export const needsForHelm = (namespace: string, driver: Driver): Need[] =>
  ['list', 'delete'].map((verb) => helmNeed(verb, namespace, driver));

/** What must be allowed so that the record of a release that is left incomplete may say so. */
export const needToMark = (namespace: string, driver: Driver): Need => helmNeed('patch', namespace, driver);

const helmNeed = (verb: string, namespace: string, driver: Driver): Need => ({
  verb,
  group: '',
  resource: `${driver}s`,
  namespace,
});

const DRIVERS: readonly Driver[] = ['secret', 'configmap'];

/** Why a release may not be uninstalled, if so: rights to one of the places where Helm keeps records are enough. */
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
