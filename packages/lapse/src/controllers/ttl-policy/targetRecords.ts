// The deadlines of the targets of one policy, for status and metrics. Decisions never read them; after a restart they are
// collected again.

import { type Instant, instant, isDue } from '@lapse/base/instant';
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
  /** By namespace and name. Shares the strings of the cached objects to save memory. */
  readonly #ends = new Map<string, Map<string, number>>();
  readonly #errors = new Map<string, string>();
  readonly #tally: { deleted: number };
  #size = 0;

  /** `before`: the number of earlier deletions, or the records to continue. Their deletions in flight count here, too. */
  constructor(before: number | TargetRecords = 0) {
    this.#tally = typeof before === 'number' ? { deleted: before } : before.#tally;
  }

  /** The number of evaluated targets that exist. */
  get size(): number {
    return this.#size;
  }
  /** The number of objects that this policy has deleted in total. */
  get deleted(): number {
    return this.#tally.deleted;
  }

  record({ namespace = '', name }: ObjectKey, end: Instant | number, error?: string): void {
    let names = this.#ends.get(namespace);
    if (names === undefined) {
      names = new Map();
      this.#ends.set(namespace, names);
    }
    if (!names.has(name)) this.#size++;
    names.set(name, end);
    if (error !== undefined) this.#errors.set(objectName({ namespace, name }), error);
    else if (this.#errors.size > 0) this.#errors.delete(objectName({ namespace, name }));
  }

  forget({ namespace = '', name }: ObjectKey): void {
    const names = this.#ends.get(namespace);
    if (names?.delete(name) !== true) return;
    this.#size--;
    if (names.size === 0) this.#ends.delete(namespace);
    if (this.#errors.size > 0) this.#errors.delete(objectName({ namespace, name }));
  }

  countDeleted(): void {
    this.#tally.deleted++;
  }
  /** Continues from the count in the status: another replica may have led in the meantime. */
  continueFrom(deleted: number): void {
    this.#tally.deleted = Math.max(this.#tally.deleted, deleted);
  }

  count(now: Instant): Counts {
    let matched = 0;
    let due = 0;
    let waiting = 0;
    let next = KEPT;
    for (const names of this.#ends.values())
      for (const end of names.values()) {
        if (Number.isNaN(end)) continue;
        matched++;
        if (end === KEPT) continue;
        if (isDue(instant(end), now)) due++;
        else {
          waiting++;
          if (end < next) next = end;
        }
      }
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
