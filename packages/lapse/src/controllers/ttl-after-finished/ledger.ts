// What a controller of finishables must remember between passes, by key and only as long as the object lives: deadlines
// (for the gauges, and to notice a rival), which objects were deleted by us, and when an object was first seen finished.
// Nothing here is needed for correctness after a restart.

import { type Instant, isDue, type Millis } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { FirstSight } from '#deletion/finish/finishable';
import { type Reading, Sight } from '#deletion/sight';

/** Values by key. The names are the strings of the cached objects, so that an entry costs no text of its own. */
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

  // Not a generator: a scrape visits a million of them.
  forEach(visit: (value: V) => void): void {
    for (const names of this.#namespaces.values()) for (const value of names.values()) visit(value);
  }
}

interface Seen {
  readonly uid: string;
  readonly isTransition: boolean;
  readonly sight: Sight;
}

export class Ledger {
  readonly #deadlines = new ByKey<Instant>();
  readonly #ours = new ByKey<string>();
  readonly #seen = new ByKey<Seen>();
  #isActing = false;
  #restsSince = Number.NEGATIVE_INFINITY;

  /** This replica acts. */
  acts(): void {
    this.#isActing = true;
  }
  /** Another one may act from now on. Monotonic. */
  rests(elapsed: Millis): void {
    this.#isActing = false;
    this.#restsSince = elapsed;
  }
  get restsSince(): number {
    return this.#restsSince;
  }

  expects(key: ObjectKey, deadline: Instant): void {
    this.#deadlines.set(key, deadline);
  }
  expectsNothing(key: ObjectKey): void {
    this.#deadlines.delete(key);
  }
  deadline(key: ObjectKey): Instant | undefined {
    return this.#deadlines.get(key);
  }

  /** A DELETE of this object is about to be sent. */
  claims(key: ObjectKey, uid: string): void {
    this.#ours.set(key, uid);
  }
  /** It was not carried out, as far as we know. */
  disclaims(key: ObjectKey): void {
    this.#ours.delete(key);
  }
  /** The uid of what had this key and was deleted by us. */
  ours(key: ObjectKey): string | undefined {
    return this.#ours.get(key);
  }
  /** Whether the object, or whatever has this key if no uid is given, was deleted by us. */
  isOurs(key: ObjectKey, uid?: string): boolean {
    const ours = this.#ours.get(key);
    return ours !== undefined && (uid === undefined || ours === uid);
  }

  /** The object was finished when the watch began; an earlier sight of it stands. */
  lists(key: ObjectKey, uid: string, reading: Reading): void {
    if (this.#seen.get(key)?.uid === uid) return;
    this.#seen.set(key, { uid, isTransition: false, sight: new Sight(reading) });
  }

  /**
   * When the object was first seen finished, in the time of this reading: now, if it is the first. So much of its TTL is
   * over as has elapsed since, whatever the wall clock showed.
   */
  firstSight(key: ObjectKey, uid: string, reading: Reading): FirstSight {
    const known = this.#seen.get(key);
    const seen = known?.uid === uid ? known : { uid, isTransition: true, sight: new Sight(reading) };
    if (seen !== known) this.#seen.set(key, seen);
    return { at: seen.sight.at(reading), isTransition: seen.isTransition };
  }

  /** The object is gone. */
  forget(key: ObjectKey): void {
    this.#deadlines.delete(key);
    this.#ours.delete(key);
    this.#seen.delete(key);
  }

  /**
   * What is due is looked at at once, by the replica that leads. One that does not knows only what it saw, and not what
   * has become of it: nothing is due there.
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
