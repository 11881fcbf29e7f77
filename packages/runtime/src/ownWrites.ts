// What passes wrote and their caches have not seen yet. A key whose cache is behind its own writes is not looked at: the
// pass would decide on the past, and write the same thing again. It is looked at when the cache has caught up; or after
// a while in any case, since an event may never come (an object outside the selection).

import type { Clock } from '@lapse/base/clock';
import { type Instant, type Millis, millis, plus, seconds } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { CacheHandle } from './caches.ts';
import type { Interner, KeyId } from './interner.ts';
import { keyText } from './interner.ts';

/** A write, as it will be seen: a version that arrives, or an object that is gone. */
export type Expected = { readonly version: string } | { readonly goneUid: string };

interface Pending {
  readonly handle: CacheHandle<KubeObject>;
  readonly key: ObjectKey;
  readonly object: KeyId;
  readonly expected: Expected;
  readonly since: Millis;
}

const PATIENCE = seconds(10);

export interface OwnWritesOptions {
  readonly clock: Clock;
  readonly interner: Interner;
  /** The cache of this key has caught up. */
  readonly onCaughtUp: (by: KeyId) => void;
  /** Somebody waited in vain. */
  readonly onGivenUp?: () => void;
}

export class OwnWrites {
  readonly #options: OwnWritesOptions;
  readonly #pending = new Map<KeyId, Pending[]>();
  /** Keys that wanted a pass while behind, by the object they wait for. */
  readonly #parked = new Map<KeyId, Set<KeyId>>();

  constructor(options: OwnWritesOptions) {
    this.#options = options;
  }

  /** Keys that are known to be behind their own writes, or were when last asked. */
  get size(): number {
    return this.#pending.size;
  }

  /** A pass of `by` wrote an object that `handle` caches. */
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

  /** Until when `by` should wait for its cache; undefined when it has caught up. Remembers whom to tell. */
  park(by: KeyId): Instant | undefined {
    const list = this.#pending.get(by);
    if (list === undefined) return undefined;
    const { clock, onGivenUp } = this.#options;
    const now = clock.elapsed();
    const open = list.filter((pending) => !isSeen(pending));
    const late = open.some(({ since }) => now - since >= PATIENCE);
    if (late) onGivenUp?.();
    if (late || open.length === 0) {
      this.#forget(by, list);
      return undefined;
    }
    for (const { object } of open) this.#parkOn(object, by);
    const longest = Math.min(...open.map(({ since }) => since)) + PATIENCE - now;
    return plus(clock.now(), millis(longest));
  }

  /** An event about an object was taken in; called after the cache has it. */
  seen(object: KeyId): void {
    const waiting = this.#parked.get(object);
    if (waiting !== undefined) this.#tell([...waiting]);
  }

  /** A cache was listed anew: everybody may have caught up. */
  recheck(): void {
    if (this.#parked.size > 0)
      this.#tell([...new Set([...this.#parked.values()].flatMap((waiting) => [...waiting]))]);
  }

  clear(): void {
    for (const [by, list] of [...this.#pending]) this.#forget(by, list);
  }

  #tell(waiting: readonly KeyId[]): void {
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
