// What is known about the targets of one policy, one number each: when they end. For status and metrics only; decisions
// never read it, and after a restart it fills again.

import { type Instant, instant, isDue } from '#base/instant';

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
  readonly #ends = new Map<string, number>();
  readonly #errors = new Map<string, string>();
  #deleted: number;

  constructor(deleted = 0) {
    this.#deleted = deleted;
  }

  /** Targets that were looked at and are there. */
  get size(): number {
    return this.#ends.size;
  }
  /** Objects this policy deleted, over its whole life. */
  get deleted(): number {
    return this.#deleted;
  }

  record(object: string, end: Instant | number, error?: string): void {
    this.#ends.set(object, end);
    if (error === undefined) this.#errors.delete(object);
    else this.#errors.set(object, error);
  }

  forget(object: string): void {
    this.#ends.delete(object);
    this.#errors.delete(object);
  }

  countDeleted(): void {
    this.#deleted++;
  }

  count(now: Instant): Counts {
    let matched = 0;
    let due = 0;
    let waiting = 0;
    let next = KEPT;
    for (const end of this.#ends.values()) {
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
