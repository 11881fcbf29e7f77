// What is known about the targets of one policy, one number each: when they end. For status and metrics only; decisions
// never read it, and after a restart it fills again.

import { type Instant, instant, isDue } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import { objectName } from './keys.ts';

export interface Counts {
  readonly matched: number;
  readonly waiting: number;
  readonly due: number;
  readonly errors: number;
  /** The earliest deadline to come. */
  readonly next: Instant | undefined;
  /** One of the errors: the object, and what is wrong. */
  readonly example: string | undefined;
}

/** Kept for as long as nothing changes. */
export const KEPT = Number.POSITIVE_INFINITY;
/** Seen, and not meant by the policy after all: its namespace is not in scope. */
export const NOT_MEANT = Number.NaN;

export class Book {
  /** By namespace and name: strings of the cached objects, so that an entry costs no text of its own. */
  readonly #ends = new Map<string, Map<string, number>>();
  readonly #errors = new Map<string, string>();
  readonly #tally: { deleted: number };
  #size = 0;

  /** `before`: how many were deleted until now, or the book it continues. What is under way for that one counts here, too. */
  constructor(before: number | Book = 0) {
    this.#tally = typeof before === 'number' ? { deleted: before } : before.#tally;
  }

  /** Targets that were looked at and are there. */
  get size(): number {
    return this.#size;
  }
  /** Objects this policy deleted, over its whole life. */
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
  /** As the status says: another replica may have led since we counted. */
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
