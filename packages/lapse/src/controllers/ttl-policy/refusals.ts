// DELETEs that are answered with 403. Either permissions were revoked since the last review: then nothing is deleted
// before the next review. Or a rule about a single object refuses it, for example a webhook: then other objects are not
// affected.

import { BoundedSet } from '@lapse/base/boundedSet';
import { type Instant, isDue } from '@lapse/base/instant';
import { ApiError } from '@lapse/kube/api/status';
import type { ActivePolicy } from './policies.ts';

const MOST_REMEMBERED = 10_000;

export class Refusals {
  /** Uids that were refused although the permissions are in order. */
  readonly #protected = new BoundedSet(MOST_REMEMBERED);

  /** Whether the permissions must be reviewed because of this answer. Not if they were reviewed recently. */
  isAboutRights(error: unknown, uid: string, { clearedUntil }: ActivePolicy, now: Instant): boolean {
    if (!(error instanceof ApiError) || error.code !== 403 || this.#protected.has(uid)) return false;
    if (clearedUntil === undefined || isDue(clearedUntil, now)) return true;
    this.#protected.add(uid);
    return false;
  }
}
