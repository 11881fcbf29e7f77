// What the controller remembers about existing objects between reconciles, by key: deadlines (for gauges and to detect a
// competing controller), and when an object was first seen finished. A restart may lose all of it.

import { type Instant, isDue } from '@lapse/base/instant';
import { MonotonicMoment, type Reading } from '@lapse/base/monotonicMoment';
import { KeyMap } from '@lapse/kube/api/keyMap';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { FirstSight } from '#expiry/finishable';

interface Seen {
  readonly uid: string;
  readonly isTransition: boolean;
  readonly sight: MonotonicMoment;
}

export class ObjectRecords {
  readonly #deadlines = new KeyMap<Instant>();
  readonly #seen = new KeyMap<Seen>();
  #isActing = false;

  /** This replica acts from now on. */
  startActing(): void {
    this.#isActing = true;
  }
  /** Another replica may act from now on. */
  stopActing(): void {
    this.#isActing = false;
  }

  setDeadline(key: ObjectKey, deadline: Instant): void {
    this.#deadlines.set(key, deadline);
  }
  clearDeadline(key: ObjectKey): void {
    this.#deadlines.delete(key);
  }
  deadline(key: ObjectKey): Instant | undefined {
    return this.#deadlines.get(key);
  }

  /** The object had finished before the watch started. An earlier first sight is kept. */
  recordListed(key: ObjectKey, uid: string, reading: Reading): void {
    if (this.#seen.get(key)?.uid === uid) return;
    this.#seen.set(key, { uid, isTransition: false, sight: new MonotonicMoment(reading) });
  }

  /**
   * When the object was first seen finished; now, if this is the first time. The result is in wall-clock time of this
   * reading, derived from the monotonic time since then.
   */
  firstSight(key: ObjectKey, uid: string, reading: Reading): FirstSight {
    const known = this.#seen.get(key);
    const seen =
      known?.uid === uid ? known : { uid, isTransition: true, sight: new MonotonicMoment(reading) };
    if (seen !== known) this.#seen.set(key, seen);
    return { at: seen.sight.at(reading), isTransition: seen.isTransition };
  }

  /** The object no longer exists. */
  forget(key: ObjectKey): void {
    this.#deadlines.delete(key);
    this.#seen.delete(key);
  }

  /**
   * The leader reconciles due objects at once. A standby does not learn what happened to due objects, so it reports none
   * as due.
   */
  count(now: Instant): { readonly waiting: number; readonly due: number } {
    let due = 0;
    this.#deadlines.forEach((deadline) => {
      if (isDue(deadline, now)) due++;
    });
    return { waiting: this.#deadlines.size - due, due: this.#isActing ? due : 0 };
  }
}
