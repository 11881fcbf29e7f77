// Tracks writes of reconciles that the caches have not seen yet. A key whose cache is behind its own writes is not
// reconciled: it would decide on stale state and repeat the write. It is reconciled when the cache has caught up, or
// after 10 s, because an object outside the selector never produces an event.

import type { Clock } from '@lapse/base/clock';
import { type Instant, type Millis, millis, plus, seconds } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { CacheHandle } from './caches.ts';
import type { Interner, KeyId } from './interner.ts';
import { keyText } from './interner.ts';

/** How the cache will show a write: a version that arrives, or an object (by uid) that is removed. */
export type Expected = { readonly version: string } | { readonly goneUid: string };

interface Pending {
  readonly handle: CacheHandle<KubeObject>;
  readonly key: ObjectKey;
  readonly object: KeyId;
  readonly expected: Expected;
  readonly since: Millis;
}

const MAX_WAIT = seconds(10);

export interface OwnWritesOptions {
  readonly clock: Clock;
  readonly interner: Interner;
  /** Called when the caches have caught up with the writes of this key. */
  readonly onCaughtUp: (by: KeyId) => void;
  /** Called when a key stops waiting although its cache has not caught up. */
  readonly onGivenUp?: () => void;
}

export class OwnWrites {
  readonly #options: OwnWritesOptions;
  readonly #pending = new Map<KeyId, Pending[]>();
  /** Keys that are due but behind, by the object they wait for. */
  readonly #parked = new Map<KeyId, Set<KeyId>>();

  constructor(options: OwnWritesOptions) {
    this.#options = options;
  }

  /** Number of keys that are behind their own writes, as of the last check. */
  get size(): number {
    return this.#pending.size;
  }

  /** A reconcile of `by` wrote an object that `handle` caches. */
  wrote(by: KeyId, handle: CacheHandle<KubeObject>, key: ObjectKey, expected: Expected): void {
    const { interner, clock } = this.#options;
    const object = interner.intern(keyText(key));
    const pending: Pending = { handle, key, object, expected, since: clock.elapsed() };
    if (isSeen(pending)) {
      interner.release(object);
      return;
    }
    const list = this.#pending.get(by);
    if (list !== undefined) list.push(pending);
    else {
      interner.hold(by);
      this.#pending.set(by, [pending]);
    }
  }

  /** Until when `by` must wait for its cache; undefined if it has caught up. Registers `by` for `onCaughtUp`. */
  park(by: KeyId): Instant | undefined {
    const list = this.#pending.get(by);
    if (list === undefined) return undefined;
    const { clock, onGivenUp } = this.#options;
    const now = clock.elapsed();
    const open = list.filter((pending) => !isSeen(pending));
    const isOverdue = open.some(({ since }) => now - since >= MAX_WAIT);
    if (isOverdue) onGivenUp?.();
    if (isOverdue || open.length === 0) {
      this.#forget(by, list);
      return undefined;
    }
    for (const { object } of open) this.#parkOn(object, by);
    const longest = Math.min(...open.map(({ since }) => since)) + MAX_WAIT - now;
    return plus(clock.now(), millis(longest));
  }

  /** Called after the cache has applied an event of the object. */
  seen(object: KeyId): void {
    const waiting = this.#parked.get(object);
    if (waiting !== undefined) this.#notify([...waiting]);
  }

  /** Called after a relist: checks all waiting keys. */
  recheck(): void {
    if (this.#parked.size > 0)
      this.#notify([...new Set([...this.#parked.values()].flatMap((waiting) => [...waiting]))]);
  }

  clear(): void {
    for (const [by, list] of [...this.#pending]) this.#forget(by, list);
  }

  #notify(waiting: readonly KeyId[]): void {
    for (const by of waiting) {
      const list = this.#pending.get(by) ?? [];
      if (!list.every(isSeen)) continue;
      this.#options.interner.hold(by);
      this.#forget(by, list);
      this.#options.onCaughtUp(by);
      this.#options.interner.release(by);
    }
  }

  #parkOn(object: KeyId, by: KeyId): void {
    const waiting = this.#parked.get(object);
    if (waiting === undefined) this.#parked.set(object, new Set([by]));
    else waiting.add(by);
  }

  #forget(by: KeyId, list: readonly Pending[]): void {
    const { interner } = this.#options;
    this.#pending.delete(by);
    for (const { object } of list) {
      const waiting = this.#parked.get(object);
      if (waiting?.delete(by) && waiting.size === 0) this.#parked.delete(object);
      interner.release(object);
    }
    interner.release(by);
  }
}

function isSeen({ handle, key, expected }: Pending): boolean {
  if ('version' in expected) return !handle.isBehind(expected.version);
  return handle.reader.get(key)?.metadata.uid !== expected.goneUid;
}
