// Saves many objects with few requests: if a rule deletes many objects of one collection at the same time, a list reads
// all of them, page by page, and each page is stored before the first of its objects is deleted.

import { BoundedMap } from '@lapse/base/boundedMap';
import { BoundedSet } from '@lapse/base/boundedSet';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Burst, SaveRequest } from '#deletion/trash';

/** An object to save, as the API server returned it. */
export interface Ahead {
  readonly request: SaveRequest;
  readonly live: KubeObject;
}

/** Stores objects together, and returns those that were stored. Rejects if the store refuses them. */
type Store = (batch: readonly Ahead[]) => Promise<readonly Ahead[]>;

interface RuleState {
  /** Objects that were not saved ahead, since the due objects were counted. */
  single: number;
  running: Promise<void> | undefined;
}

/** With fewer due objects, each is read by itself. */
const LEAST = 16;
/** Objects that one list saves. More would be stored long before they are deleted, and may change until then. */
const MOST = 2000;
/** A list is worth it if at least one in this many of its objects is due. */
const MOST_READ_PER_SAVED = 10;
const MOST_RULES = 10_000;
const MOST_SAVED = 10_000;

export class SaveAhead {
  readonly #store: Store;
  readonly #rules = new BoundedMap<string, RuleState>(MOST_RULES);
  /** Saved versions, until they are deleted. */
  readonly #saved = new BoundedSet(MOST_SAVED);
  /** Versions that the caller saves by itself. */
  readonly #single = new BoundedSet(MOST_SAVED);

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether this version of the object is saved; perhaps after a list. */
  async isSaved({ object, origin, burst }: SaveRequest): Promise<boolean> {
    const version = versionOf(object);
    if (this.#saved.delete(version)) return true;
    if (burst === undefined) return false;
    const state = this.#stateOf(origin.rule);
    if (state.running === undefined) {
      state.single++;
      if (state.single >= LEAST) state.running = this.#start(state, burst);
    }
    // No await otherwise: the next call must see in `#single` that this object is saved by its caller.
    if (state.running !== undefined) await state.running;
    if (this.#saved.delete(version)) return true;
    this.#single.add(version);
    return false;
  }

  #stateOf(rule: string): RuleState {
    const state = this.#rules.get(rule) ?? { single: 0, running: undefined };
    this.#rules.set(rule, state);
    return state;
  }

  #start(state: RuleState, burst: Burst): Promise<void> | undefined {
    state.single = 0;
    const due = burst.due(MOST).filter(({ object }) => {
      const version = versionOf(object);
      return !this.#saved.has(version) && !this.#single.has(version);
    });
    if (due.length < LEAST || due.length * MOST_READ_PER_SAVED < burst.size) return undefined;
    // The objects that a failed list leaves are saved one by one, which reports the error.
    return this.#run(burst, due)
      .catch(() => undefined)
      .finally(() => {
        state.running = undefined;
      });
  }

  async #run(burst: Burst, due: readonly SaveRequest[]): Promise<void> {
    const wanted = new Map(due.map((request) => [versionOf(request.object), request]));
    for await (const page of burst.pages()) {
      const batch = page.flatMap((live): Ahead[] => {
        const request = wanted.get(versionOf(live));
        return request === undefined ? [] : [{ request, live }];
      });
      for (const { live } of await this.#store(batch)) this.#saved.add(versionOf(live));
      for (const { live } of batch) wanted.delete(versionOf(live));
      if (wanted.size === 0) return;
    }
  }
}

const versionOf = ({ metadata: { uid, resourceVersion } }: KubeObject): string => `${uid} ${resourceVersion}`;
