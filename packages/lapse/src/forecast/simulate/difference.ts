// Compares the deletions of two simulations of the same cluster, to show the effect of changed policies.

import { type Millis, minus } from '@lapse/base/instant';
import type { End } from './deletionLog.ts';

export type Contrast =
  | { readonly kind: 'only with'; readonly end: End }
  | { readonly kind: 'only without'; readonly end: End }
  /** `by`: the difference in time. */
  | { readonly kind: 'earlier' | 'later'; readonly end: End; readonly before: End; readonly by: Millis };

/** By name, not by uid: objects created during a simulation have a different uid in each. */
const idOf = ({ apiVersion, kind, namespace, name }: End): string =>
  `${apiVersion.replace(/\/.*/, '')} ${kind} ${namespace ?? ''}/${name}`;

/** If one name is deleted several times, the first counts. */
function byName(ends: readonly End[]): Map<string, End> {
  const named = new Map<string, End>();
  for (const end of ends) if (!named.has(idOf(end))) named.set(idOf(end), end);
  return named;
}

export function computeDifference(without: readonly End[], changed: readonly End[]): Contrast[] {
  const before = byName(without);
  const after = byName(changed);
  const contrasts: Contrast[] = [];
  for (const [id, end] of after) {
    const was = before.get(id);
    if (was === undefined) contrasts.push({ kind: 'only with', end });
    else if (was.at !== end.at) {
      const by = minus(end.at, was.at);
      const kind = by < 0 ? 'earlier' : 'later';
      contrasts.push({ kind, end, before: was, by: Math.abs(by) as Millis });
    }
  }
  for (const [id, end] of before) if (!after.has(id)) contrasts.push({ kind: 'only without', end });
  return contrasts.sort((a, b) => a.end.at - b.end.at || (idOf(a.end) < idOf(b.end) ? -1 : 1));
}
