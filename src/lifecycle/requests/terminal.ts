// Whether a request has ended. The Ready condition is the only source: nothing is derived from anything else.

import type { Condition } from '#api/kinds/builtin';
import { PROGRESS_REASONS, READY } from '#api/kinds/storage/conditions';
import type { RequestObject } from '#api/kinds/storage/request';
import type { TtlMode } from './rules.ts';

export const readyOf = (request: RequestObject): Condition | undefined =>
  request.status?.conditions?.find(({ type }) => type === READY);

/**
 * Ready=True, or Ready=False. Where the annotation decides, Ready=False of a request that somebody marked as pending or
 * running is not an end.
 */
export function hasEnded(request: RequestObject, mode: TtlMode): boolean {
  const ready = readyOf(request);
  if (ready?.status === 'True') return true;
  if (ready?.status !== 'False') return false;
  return mode === 'scanner' || !PROGRESS_REASONS.includes(ready.reason ?? '');
}
