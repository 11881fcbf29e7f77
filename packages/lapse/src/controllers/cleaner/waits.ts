// Remembers until when Cleaners need no reconcile. In memory only: after a restart every Cleaner is evaluated once.

import { type Instant, isDue, type Millis, minus } from '@lapse/base/instant';
import { type Outcome, waitUntil } from '@lapse/runtime/outcome';
import type { Cleaner } from '#api/cleaner';

interface Wait {
  /** UID of the Cleaner. */
  readonly uid: string | undefined;
  /** The wait ends early if this changes. */
  readonly basis: string;
  readonly until: Instant;
  readonly wait: Millis;
  readonly why: string;
}

/** Identifies a Cleaner in the memory of the controller. */
export const keyId = ({
  namespace = '',
  name = '',
}: {
  readonly namespace?: string;
  readonly name?: string;
}): string => `${namespace}/${name}`;

/**
 * Whether a time is in the future, and not further than when it was set. Otherwise the clock was ahead and has been
 * set back.
 */
export const isAhead = (at: Instant, wait: Millis, now: Instant): boolean =>
  !isDue(at, now) && minus(at, now) <= wait;

export class Waits {
  readonly #waits = new Map<string, Wait>();

  /** The remembered outcome, if it has the same basis and its time has not come. */
  find({ metadata }: Cleaner, basis: string, now: Instant): Outcome | undefined {
    const known = this.#waits.get(keyId(metadata));
    const holds =
      known !== undefined &&
      known.uid === metadata.uid &&
      known.basis === basis &&
      isAhead(known.until, known.wait, now);
    return holds ? waitUntil(known.until, known.why) : undefined;
  }

  set(
    { metadata }: Cleaner,
    { basis, until, why }: Pick<Wait, 'basis' | 'until' | 'why'>,
    now: Instant,
  ): Outcome {
    this.#waits.set(keyId(metadata), { uid: metadata.uid, basis, until, wait: minus(until, now), why });
    return waitUntil(until, why);
  }

  delete(key: { readonly namespace?: string; readonly name?: string }): void {
    this.#waits.delete(keyId(key));
  }
}
