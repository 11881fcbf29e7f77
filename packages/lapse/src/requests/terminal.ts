// Determines whether a request has ended. The Ready condition is the only source.

import { findCondition } from '@lapse/kube/api/conditions';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { PROGRESS_REASONS, READY } from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';

export const readyOf = (request: RequestObject): Condition | undefined =>
  findCondition(request.status?.conditions, READY);

/** Ready=True, or Ready=False with a reason that is not a progress reason of another controller. */
export function hasEnded(request: RequestObject): boolean {
  const ready = readyOf(request);
  if (ready?.status === 'True') return true;
  return ready?.status === 'False' && !PROGRESS_REASONS.includes(ready.reason ?? '');
}
