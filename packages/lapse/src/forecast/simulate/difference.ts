// Compares the deletions of two simulations of the same cluster, to show the effect of changed policies.

import { type Millis, minus } from '@lapse/base/instant';
import type { SimulatedDeletion } from './deletionLog.ts';

export type Contrast =
  | { readonly kind: 'only with'; readonly deletion: SimulatedDeletion }
  | { readonly kind: 'only without'; readonly deletion: SimulatedDeletion }
  /** `by`: the difference in time. */
  | {
      readonly kind: 'earlier' | 'later';
      readonly deletion: SimulatedDeletion;
      readonly before: SimulatedDeletion;
      readonly by: Millis;
    };

/** By name, not by uid: objects created during a simulation have a different uid in each. */
const idOf = ({ apiVersion, kind, namespace, name }: SimulatedDeletion): string =>
  `${apiVersion.replace(/\/.*/, '')} ${kind} ${namespace ?? ''}/${name}`;

/** If one name is deleted several times, the first counts. */
function byName(deletions: readonly SimulatedDeletion[]): Map<string, SimulatedDeletion> {
  const named = new Map<string, SimulatedDeletion>();
  for (const deletion of deletions) if (!named.has(idOf(deletion))) named.set(idOf(deletion), deletion);
  return named;
}

export function computeDifference(
  without: readonly SimulatedDeletion[],
  changed: readonly SimulatedDeletion[],
): Contrast[] {
  const before = byName(without);
  const after = byName(changed);
  const contrasts: Contrast[] = [];
  for (const [id, deletion] of after) {
    const was = before.get(id);
    if (was === undefined) contrasts.push({ kind: 'only with', deletion });
    else if (was.at !== deletion.at) {
      const by = minus(deletion.at, was.at);
      const kind = by < 0 ? 'earlier' : 'later';
      contrasts.push({ kind, deletion, before: was, by: Math.abs(by) as Millis });
    }
  }
  for (const [id, deletion] of before) if (!after.has(id)) contrasts.push({ kind: 'only without', deletion });
  return contrasts.sort(
    (a, b) => a.deletion.at - b.deletion.at || (idOf(a.deletion) < idOf(b.deletion) ? -1 : 1),
  );
}
