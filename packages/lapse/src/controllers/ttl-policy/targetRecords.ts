// The deadlines of the targets of one policy, for status and metrics. Decisions never read them; after a restart they are
// collected again.

import { type Instant, instant, isDue } from '@lapse/base/instant';
import { KeyMap } from '@lapse/kube/api/keyMap';
import type { ObjectKey } from '@lapse/kube/api/kind';
import { objectName } from './keys.ts';

export interface Counts {
  readonly matched: number;
  readonly waiting: number;
  readonly due: number;
  readonly errors: number;
  /** The next deadline. */
  readonly next: Instant | undefined;
  /** One of the errors: the object and the message. */
  readonly example: string | undefined;
}

/** The target is kept until something changes. */
export const KEPT = Number.POSITIVE_INFINITY;
/** The target is in the cache but outside of the namespaces of the policy. */
export const OUT_OF_SCOPE = Number.NaN;

export class TargetRecords {
  readonly #ends = new KeyMap<number>();
  readonly #errors = new Map<string, string>();
  readonly #tally: { deleted: number };

  /** `before`: the number of earlier deletions, or the records to continue. Their deletions in flight count here, too. */
  constructor(before: number | TargetRecords = 0) {
    this.#tally = typeof before === 'number' ? { deleted: before } : before.#tally;
  }

  /** The number of evaluated targets that exist. */
  get size(): number {
    return this.#ends.size;
  }
  /** The number of objects that this policy has deleted in total. */
  get deleted(): number {
    return this.#tally.deleted;
  }

  record(key: ObjectKey, end: Instant | number, error?: string): void {
    this.#ends.set(key, end);
    if (error !== undefined) this.#errors.set(objectName(key), error);
    else if (this.#errors.size > 0) this.#errors.delete(objectName(key));
  }

  forget(key: ObjectKey): void {
    if (this.#ends.delete(key) && this.#errors.size > 0) this.#errors.delete(objectName(key));
  }

  countDeleted(): void {
    this.#tally.deleted++;
  }
  /** Continues from the count in the status: another replica may have led in the meantime. */
  continueFrom(deleted: number): void {
    this.#tally.deleted = Math.max(this.#tally.deleted, deleted);
  }

  /** The keys of due targets, at most `most` of them. */
  due(now: Instant, most: number): ObjectKey[] {
    const due: ObjectKey[] = [];
    this.#ends.forEach((end, namespace, name) => {
      if (due.length < most && Number.isFinite(end) && isDue(instant(end), now))
        due.push(namespace === '' ? { name } : { namespace, name });
    });
    return due;
  }

  count(now: Instant): Counts {
    let matched = 0;
    let due = 0;
    let waiting = 0;
    let next = KEPT;
    this.#ends.forEach((end) => {
      if (Number.isNaN(end)) return;
      matched++;
      if (end === KEPT) return;
      if (isDue(instant(end), now)) due++;
      else {
        waiting++;
        next = Math.min(next, end);
      }
    });
    const [example] = this.#errors;
    return {
      matched,
      waiting,
      due,
      errors: this.#errors.size,
      next: next === KEPT ? undefined : instant(next),
      example: example === undefined ? undefined : `${example[0]}: ${example[1]}`,
    };
  }
}
