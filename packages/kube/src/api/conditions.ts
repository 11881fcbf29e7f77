// Status conditions: find one by type, set one. The only place that merges conditions.

import { formatTime, type Instant } from '@lapse/base/instant';
import { equal, type Json } from './json.ts';

/** Fits the `Condition` of the typed kinds and plain JSON objects. */
interface AnyCondition {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly lastTransitionTime?: unknown;
}

export const findCondition = <C extends AnyCondition>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined => conditions?.find((condition) => condition.type === type);

/**
 * Sets one condition, as `meta.SetStatusCondition` of apimachinery does: the condition replaces the one of its type in
 * place, or is appended. `lastTransitionTime` becomes `now` only if the status changes; a value in `next` is ignored.
 * Does not modify its arguments. Returns `conditions` itself if nothing changes.
 */
export function setCondition<C extends AnyCondition>(
  conditions: readonly C[] | undefined,
  next: NoInfer<C>,
  now: Instant,
): C[] {
  const present = conditions ?? [];
  const before = findCondition(present, next.type as string);
  const since = before?.status === next.status ? before?.lastTransitionTime : undefined;
  const { type, status, lastTransitionTime: _, ...rest } = next;
  const after = { type, status, lastTransitionTime: since ?? formatTime(now), ...rest } as unknown as C;
  if (before === undefined) return [...present, after];
  if (equal(before as Json, after as Json)) return present as C[];
  return present.flatMap((condition) => {
    if (condition === before) return [after];
    return condition.type === next.type ? [] : [condition];
  });
}
