// What the controller remembers about existing objects between reconciles, by key: deadlines (for gauges and to detect a
// competing controller), and when an object was first seen finished. A restart may lose all of it.

import { type Instant, isDue } from '@lapse/base/instant';
import { MonotonicMoment, type Reading } from '@lapse/base/monotonicMoment';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { FirstSight } from '#expiry/finishable';

/** A map by key. It shares the strings of the cached objects to save memory. */
class ByKey<V> {
  readonly #namespaces = new Map<string, Map<string, V>>();

  get({ namespace = '', name }: ObjectKey): V | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  set({ namespace = '', name }: ObjectKey, value: V): void {
    const names = this.#namespaces.get(namespace);
    if (names === undefined) this.#namespaces.set(namespace, new Map([[name, value]]));
    else names.set(name, value);
  }

  delete({ namespace = '', name }: ObjectKey): void {
    const names = this.#namespaces.get(namespace);
    names?.delete(name);
    if (names?.size === 0) this.#namespaces.delete(namespace);
  }

  // Not a generator: a scrape visits up to a million entries.
  forEach(visit: (value: V) => void): void {
    for (const names of this.#namespaces.values()) for (const value of names.values()) visit(value);
  }
}

interface Seen {
  readonly uid: string;
  readonly isTransition: boolean;
  readonly sight: MonotonicMoment;
}

export class ObjectRecords {
  readonly #deadlines = new ByKey<Instant>();
  readonly #seen = new ByKey<Seen>();
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
    let all = 0;
    this.#deadlines.forEach((deadline) => {
      all++;
      if (isDue(deadline, now)) due++;
    });
    return { waiting: all - due, due: this.#isActing ? due : 0 };
  }
}
