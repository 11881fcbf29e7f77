// What ends when, in words: a request says it in its Ready message, because nobody reads the manual at night.

import { formatEnd, type Instant } from '@lapse/base/instant';
import type { Retention } from './keeper.ts';

/** How long an artifact stays; `end` is when its request will be deleted. */
export function describeRetention(retention: Retention, end: Instant): string {
  const deletion = `this request is deleted (at ${formatEnd(end)} by its TTL)`;
  const when = retention.mode === 'FollowObject' ? `when ${deletion}` : `${retention.ttl} after ${deletion}`;
  return `it ends ${when}, unless another owner keeps it`;
}
