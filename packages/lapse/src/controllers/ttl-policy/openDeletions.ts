// DELETEs without a clear answer. Their result is seen later: if the object is gone or terminating, the DELETE took
// effect. If it exists in another version, it did not: the DELETE carried the resourceVersion of the decision.

import type { KubeObject } from '@lapse/kube/api/object';

interface Open<T> {
  readonly object: KubeObject;
  readonly decided: T;
}

interface Closed<T> extends Open<T> {
  readonly outcome: 'deleted' | 'terminating';
}

const MOST = 10_000;

/** By the name of the target in the queue. `T`: the decision about the target. */
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

  /** The result is known from another source. */
  forget(target: string): void {
    this.#open.delete(target);
  }

  /**
   * The result of a DELETE, given the current object of this name. Pass undefined for `seen` only if the object is known
   * not to exist. Returns undefined if the result is unknown or the DELETE did not take effect.
   */
  close(target: string, seen: KubeObject | undefined): Closed<T> | undefined {
    const open = this.#open.get(target);
    if (open === undefined) return undefined;
    const { uid, resourceVersion } = open.object.metadata;
    const isThere = seen?.metadata.uid === uid;
    const isTerminating = seen?.metadata.deletionTimestamp !== undefined;
    if (isThere && !isTerminating && seen?.metadata.resourceVersion === resourceVersion) return undefined;
    this.forget(target);
    if (!isThere) return { ...open, outcome: 'deleted' };
    return isTerminating ? { ...open, outcome: 'terminating' } : undefined;
  }
}
