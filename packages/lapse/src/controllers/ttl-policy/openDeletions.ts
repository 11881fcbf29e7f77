// Deletions whose answer never came, or said nothing. What became of them is seen later: an object that is gone, or going,
// was ours; one that lives on in another version was not deleted, since the DELETE named the one it was decided on.

import type { KubeObject } from '@lapse/kube/api/object';

interface Open<T> {
  readonly object: KubeObject;
  readonly decided: T;
}

interface Closed<T> extends Open<T> {
  readonly outcome: 'deleted' | 'terminating';
}

const MOST = 10_000;

/** By the name of the target in the queue. `T`: what was decided about it. */
export class OpenDeletions<T> {
  readonly #open = new Map<string, Open<T>>();

  add(target: string, object: KubeObject, decided: T): void {
    if (this.#open.size >= MOST) this.forget(this.#open.keys().next().value!);
    this.#open.set(target, { object, decided });
  }

  has(target: string): boolean {
    return this.#open.has(target);
  }
  get(target: string): Open<T> | undefined {
    return this.#open.get(target);
  }

  /** Its end is known otherwise. */
  forget(target: string): void {
    this.#open.delete(target);
  }

  /**
   * The end of one, now that what has its name is seen like this. `seen`: undefined only where it is known not to exist.
   * Undefined when there is nothing to tell.
   */
  close(target: string, seen: KubeObject | undefined): Closed<T> | undefined {
    const open = this.#open.get(target);
    if (open === undefined) return undefined;
    const { uid, resourceVersion } = open.object.metadata;
    const isThere = seen?.metadata.uid === uid;
    const isGoing = seen?.metadata.deletionTimestamp !== undefined;
    if (isThere && !isGoing && seen?.metadata.resourceVersion === resourceVersion) return undefined;
    this.forget(target);
    if (!isThere) return { ...open, outcome: 'deleted' };
    return isGoing ? { ...open, outcome: 'terminating' } : undefined;
  }
}
