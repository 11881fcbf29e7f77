// Describes in the Ready message of a request when its artifact is deleted.

import { formatEnd, type Instant } from '@lapse/base/instant';
import type { Retention } from './keeper.ts';

/** How long the artifact is kept. `end`: when its request will be deleted. */
export function describeRetention(retention: Retention, end: Instant): string {
  const deletion = `this request is deleted (at ${formatEnd(end)} by its TTL)`;
  const when = retention.mode === 'FollowObject' ? `when ${deletion}` : `${retention.ttl} after ${deletion}`;
  return `it ends ${when}, unless another owner keeps it`;
}
