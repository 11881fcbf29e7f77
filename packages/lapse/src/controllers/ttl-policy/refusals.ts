// Deletions that are answered with 403. It may be about rights, which were lost since they were reviewed: then nothing more
// is tried before the next review. Or it is a rule about one object, a webhook's say, and the others have nothing to do
// with it.

import { type Instant, isDue } from '@lapse/base/instant';
import { ApiError } from '@lapse/kube/api/status';
import { Remembered } from '#deletion/remembered';
import type { ActivePolicy } from './policies.ts';

const MOST_REMEMBERED = 10_000;

export class Refusals {
  /** Uids that were refused although the rights are in order. */
  readonly #protected = new Remembered(MOST_REMEMBERED);

  /** Whether rights must be reviewed because of this answer; what was reviewed just now is not suspected again. */
  isAboutRights(error: unknown, uid: string, { clearedUntil }: ActivePolicy, now: Instant): boolean {
    if (!(error instanceof ApiError) || error.code !== 403 || this.#protected.has(uid)) return false;
    if (clearedUntil === undefined || isDue(clearedUntil, now)) return true;
    this.#protected.add(uid);
    return false;
  }
}
