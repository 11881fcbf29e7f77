// Serves the stored CRDs. `#serve` runs inside the commit of a CRD, so a CRD that reads Established is served. All
// writes (names, conditions, clean-up) follow later, one CRD at a time and one write per step, until nothing is left
// to write.

import { formatTime, plus, seconds } from '@lapse/base/instant';
import { clone, type JsonObject } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import type { Core } from '../context.ts';
import { recordOwnStatus } from '../metadata/managedFields.ts';
import type { Resource } from '../resources/resource.ts';
import type { Change } from '../store/history.ts';
import { RevisionMismatch } from '../store/store.ts';
import type { Stored } from '../store/stored.ts';
import {
  computeApproval,
  computeEstablished,
  computeInstalling,
  computeNames,
  computeNonStructural,
  namesJson,
  sameNames,
} from './acceptance.ts';
import { Cleaner } from './cleanup.ts';
import {
  type Condition,
  findCondition,
  isConditionTrue,
  removeCondition,
  sameCondition,
  setCondition,
} from './conditions.ts';
import { CRDS, type Crd, type Names, objectAt, readCrd } from './crd.ts';
import { Serving } from './serving.ts';

// Delay after a failed write: the disk may be full for a while.
const RETRY = seconds(1);

export class CrdController {
  readonly #core: Core;
  readonly #serving: Serving;
  readonly #cleaner: Cleaner;
  readonly #pending = new Set<string>();
  /** The generation of each CRD whose schemas were checked. */
  readonly #structural = new Map<string, number>();
  #working: Promise<void> | undefined;
  #stopped = false;

  constructor(core: Core) {
    this.#core = core;
    this.#serving = new Serving(core);
    this.#cleaner = new Cleaner(core, {
      wake: (name) => this.#enqueue(name),
      codec: (name) => this.#serving.storageCodec(name),
    });
  }

  /** Serves the stored CRDs and follows every change. */
  start(): void {
    for (const { key, object } of this.#crds()) {
      this.#serving.update(key, object);
      if (isConditionTrue(object, 'Established')) this.#structural.set(key, object.metadata.generation ?? 0);
      this.#enqueue(key);
    }
    this.#core.store.listen((change) => this.#observe(change));
  }

  /** Stops writing: the store is about to close. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pending.clear();
    this.#cleaner.stop();
    await this.#working;
  }

  *#crds(): Iterable<Stored> {
    yield* this.#core.store.view(CRDS)!.entries('');
  }

  #observe(change: Change): void {
    if (change.resource !== CRDS) {
      if (!change.next) this.#cleaner.removed(change.resource);
      return;
    }
    this.#serving.update(change.key, change.next?.object);
    this.#enqueue(change.key);
    if (change.prev) this.#releaseNames(change.prev.object, change.next?.object);
  }

  /** Other CRDs of the group may wait for names that were released. */
  #releaseNames(prev: KubeObject, next: KubeObject | undefined): void {
    const before = readCrd(prev);
    if (next && sameNames(before.acceptedNames, readCrd(next).acceptedNames)) return;
    for (const stored of this.#crds()) {
      if (stored.key !== before.name && groupOf(stored.object) === before.spec.group) {
        this.#enqueue(stored.key);
      }
    }
  }

  #enqueue(name: string): void {
    if (this.#stopped) return;
    this.#pending.add(name);
    // Not inside the current commit: its other listeners have not seen it yet.
    this.#working ??= Promise.resolve().then(() => this.#work());
  }

  async #work(): Promise<void> {
    for (const name of this.#pending) {
      this.#pending.delete(name);
      try {
        await this.#step(name);
      } catch (cause) {
        if (cause instanceof RevisionMismatch) this.#pending.add(name);
        else this.#retryLater(name);
      }
    }
    this.#working = undefined;
  }

  #retryLater(name: string): void {
    const { clock } = this.#core;
    clock.wakeAt(plus(clock.now(), RETRY), () => this.#enqueue(name));
  }

  /** Makes at most one write; its commit schedules the next step. */
  async #step(name: string): Promise<void> {
    const { store } = this.#core;
    const head = store.getHead(CRDS, name);
    if (!head) {
      this.#structural.delete(name);
      return;
    }
    if (this.#cleaner.wants(head.object)) return this.#cleaner.step(head);
    const next = this.#compute(head.object);
    if (!next) return;
    recordOwnStatus(this.#ownKind(), next, head.object, formatTime(this.#now()));
    await store.put(CRDS, name, head.revision, next);
  }

  /** The CRD with the next change of its status; undefined when the status is up to date. */
  #compute(object: KubeObject): KubeObject | undefined {
    const crd = readCrd(object);
    return (
      this.#withNames(object, crd) ??
      this.#withCondition(object, computeApproval(object, crd)) ??
      this.#withNonStructural(object, crd) ??
      this.#withEstablished(object, crd)
    );
  }

  #withNames(object: KubeObject, crd: Crd): KubeObject | undefined {
    const { spec, acceptedNames } = crd;
    if (sameNames(spec.names, acceptedNames)) return undefined;
    const { names, accepted } = computeNames(spec.names, acceptedNames, this.#namesHeld(crd));
    if (sameNames(names, acceptedNames) && sameCondition(accepted, findCondition(object, 'NamesAccepted')))
      return undefined;
    const next = copyOf(object);
    const status = objectAt(next as unknown as JsonObject, 'status');
    status['acceptedNames'] = namesJson(names);
    setCondition(next, accepted, this.#now());
    setCondition(next, computeInstalling(object, accepted.status === 'True'), this.#now());
    return next;
  }

  #namesHeld({ spec }: Crd): Names[] {
    return [...this.#crds()]
      .map((stored) => readCrd(stored.object))
      .filter((other) => other.spec.group === spec.group)
      .map((other) => other.acceptedNames);
  }

  #withCondition(object: KubeObject, wanted: Condition | undefined): KubeObject | undefined {
    if (!wanted || sameCondition(wanted, findCondition(object, wanted.type))) return undefined;
    const next = copyOf(object);
    setCondition(next, wanted, this.#now());
    return next;
  }

  #withNonStructural(object: KubeObject, crd: Crd): KubeObject | undefined {
    const generation = object.metadata.generation ?? 0;
    if (this.#structural.get(crd.name) === generation) return undefined;
    this.#structural.set(crd.name, generation);
    const wanted = computeNonStructural(crd);
    if (wanted || !findCondition(object, 'NonStructuralSchema')) return this.#withCondition(object, wanted);
    const next = copyOf(object);
    removeCondition(next, 'NonStructuralSchema');
    return next;
  }

  #withEstablished(object: KubeObject, crd: Crd): KubeObject | undefined {
    if (!isConditionTrue(object, 'NamesAccepted') || isConditionTrue(object, 'Established')) return undefined;
    return this.#withCondition(object, computeEstablished(crd));
  }

  #ownKind(): Resource {
    return this.#core.registry.byKind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition')!;
  }

  #now() {
    return this.#core.clock.now();
  }
}

const groupOf = (object: KubeObject): string => readCrd(object).spec.group;
const copyOf = (object: KubeObject): KubeObject => asObject(clone(asJson(object)));
