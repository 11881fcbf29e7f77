// Deletion of a CRD: deletes its objects, waits for those with finalizers, then removes the clean-up finalizer and
// with it the CRD. No object can be created in between: creations before the deletion mark are in the journal before
// our first write, and later ones are rejected.

import type { Cancel } from '@lapse/base/clock';
import { plus, seconds } from '@lapse/base/instant';
import { clone } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import type { Core } from '../context.ts';
import { type Codec, storageName } from '../resources/resource.ts';
import { RevisionMismatch } from '../store/store.ts';
import type { Stored } from '../store/stored.ts';
import { markDeleted } from '../verbs/delete.ts';
import { type Condition, findCondition, isConditionTrue, sameCondition, setCondition } from './conditions.ts';
import { CRDS, readCrd } from './crd.ts';
import { CLEANUP_FINALIZER } from './crdStrategy.ts';

// As upstream: after this time, the condition reports remaining objects.
const REPORT_AFTER = seconds(60);

const terminating = (status: 'True' | 'False', reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const IN_PROGRESS = terminating(
  'True',
  'InstanceDeletionInProgress',
  'CustomResource deletion is in progress',
);
const OBJECTS_REMAIN = terminating(
  'True',
  'InstanceDeletionCheck',
  'could not confirm zero CustomResources remaining: context deadline exceeded',
);
const COMPLETED = terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
const NEVER = terminating('False', 'NeverEstablished', 'resource was never established');

interface Wait {
  /** The CRD that waits for its objects. */
  readonly name: string;
  readonly cancel: Cancel;
  overdue: boolean;
}

export interface CleanerHooks {
  /** Schedules another `step` for a CRD. */
  readonly wake: (name: string) => void;
  /** The codec for objects of a CRD; undefined when it is not served. */
  readonly codec: (name: string) => Codec | undefined;
}

export class Cleaner {
  readonly #core: Core;
  readonly #hooks: CleanerHooks;
  /** Keyed by stored resource. */
  readonly #waits = new Map<string, Wait>();

  constructor(core: Core, hooks: CleanerHooks) {
    this.#core = core;
    this.#hooks = hooks;
  }

  /** Whether this CRD is terminating and has the clean-up finalizer. */
  wants({ metadata }: KubeObject): boolean {
    return (
      metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(CLEANUP_FINALIZER) ?? false)
    );
  }

  /** An object of this resource was removed, possibly the last one. */
  removed(table: string): void {
    const wait = this.#waits.get(table);
    if (wait && this.#core.store.table(table).size === 0) this.#hooks.wake(wait.name);
  }

  stop(): void {
    for (const wait of this.#waits.values()) wait.cancel();
    this.#waits.clear();
  }

  async step(head: Stored): Promise<void> {
    const { object } = head;
    const { spec } = readCrd(object);
    const table = storageName(spec.group, spec.names.plural);
    const current = findCondition(object, 'Terminating');
    if (!sameCondition(IN_PROGRESS, current) && !sameCondition(OBJECTS_REMAIN, current)) {
      return this.#writeCondition(head, IN_PROGRESS);
    }
    if (!isConditionTrue(object, 'Established')) return this.#release(head, NEVER, table);
    await this.#deleteObjects(table, head.key);
    if (this.#core.store.table(table).size === 0) return this.#release(head, COMPLETED, table);
    const wait = this.#waitFor(table, head.key);
    if (wait.overdue && !sameCondition(OBJECTS_REMAIN, current))
      await this.#writeCondition(head, OBJECTS_REMAIN);
  }

  #waitFor(table: string, name: string): Wait {
    const present = this.#waits.get(table);
    if (present) return present;
    const { clock } = this.#core;
    const wait: Wait = {
      name,
      overdue: false,
      cancel: clock.wakeAt(plus(clock.now(), REPORT_AFTER), () => {
        wait.overdue = true;
        this.#hooks.wake(name);
      }),
    };
    this.#waits.set(table, wait);
    return wait;
  }

  async #writeCondition(head: Stored, condition: Condition): Promise<void> {
    const next = asObject(clone(asJson(head.object)));
    setCondition(next, condition, this.#core.clock.now());
    await this.#core.store.put(CRDS, head.key, head.revision, next);
  }

  async #release(head: Stored, condition: Condition, table: string): Promise<void> {
    this.#waits.get(table)?.cancel();
    this.#waits.delete(table);
    const next = asObject(clone(asJson(head.object)));
    setCondition(next, condition, this.#core.clock.now());
    const finalizers = (next.metadata.finalizers ?? []).filter((f) => f !== CLEANUP_FINALIZER);
    const { store } = this.#core;
    if (finalizers.length === 0) {
      await store.remove(CRDS, head.key, head.revision);
      return;
    }
    next.metadata.finalizers = finalizers;
    await store.put(CRDS, head.key, head.revision, next);
  }

  /** Writes directly to the store: no admission, as upstream. */
  async #deleteObjects(table: string, name: string): Promise<void> {
    const codec = this.#hooks.codec(name);
    const stored = [...this.#core.store.view(table)!.entries('')];
    await Promise.all(stored.map((one) => this.#deleteObject(table, one.key, codec)));
  }

  async #deleteObject(table: string, key: string, codec: Codec | undefined): Promise<void> {
    const { store, clock } = this.#core;
    for (;;) {
      const head = store.getHead(table, key);
      if (!head) return;
      try {
        if ((head.object.metadata.finalizers ?? []).length === 0) {
          await store.remove(table, key, head.revision);
          return;
        }
        const next = asObject(clone(asJson(codec?.show(head) ?? head.object)));
        if (!markDeleted(next, clock.now())) return;
        await store.put(table, key, head.revision, codec?.toStorage(next) ?? next);
        return;
      } catch (cause) {
        // The object changed meanwhile: retry.
        if (!(cause instanceof RevisionMismatch)) throw cause;
      }
    }
  }
}
