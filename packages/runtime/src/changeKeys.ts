// Maps cache changes to queue keys: compares facts, calls the mappers with the object before and after, and enqueues the
// keys. Synchronous: it runs in the event loop turn in which the event was read.

import type { Instant } from '@lapse/base/instant';
import { keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { CacheChange } from './cache.ts';
import type { DecisionTime } from './decisionTime.ts';
import type { ControllerDefinition, WatchDefinition } from './definition.ts';
import { type Facts, factsChanged } from './facts.ts';
import { type Interner, keyText } from './interner.ts';
import type { Queue } from './queue.ts';
import type { Priority } from './readyKeys.ts';
import type { KindReader } from './reconcileContext.ts';
import type { Source } from './source.ts';

type Changed = CacheChange<KubeObject>;

export interface ChangeKeysOptions {
  readonly definition: ControllerDefinition;
  readonly queue: Queue;
  readonly interner: Interner;
  readonly time: DecisionTime;
  readonly cache: KindReader;
  /** Called for objects whose first reconcile is scheduled for `at`. */
  readonly onFirstDeadline?: (key: string, at: Instant) => void;
  /** Called for an object that starts to match `countsAsAdded`. */
  readonly onCounted?: () => void;
}

export class ChangeKeys {
  readonly #options: ChangeKeysOptions;

  constructor(options: ChangeKeysOptions) {
    this.#options = options;
  }

  /** Handles a change of the controller's own kind: enqueues the object's key. */
  primary(change: Changed): void {
    const { definition, queue, interner, time, onFirstDeadline } = this.#options;
    const { id, before, after, initial } = change;
    if (before !== undefined && !queue.isOpen) {
      definition.onStandbyChange?.(keyOf(before), after);
      // A standby keeps nothing for a removed object. A running reconcile still needs to be followed by another.
      if (after === undefined && queue.drop(id)) return;
    }
    if (!matters(definition.facts, change)) return;
    this.#count(change);
    const firstDeadline = initial && after !== undefined ? definition.firstDeadline?.(after) : undefined;
    if (firstDeadline !== undefined) {
      queue.addAt(id, time.localOf(firstDeadline), 'first deadline');
      onFirstDeadline?.(interner.text(id), firstDeadline);
    } else queue.add(id, reasonOf(change, definition.for.kind), initial ? 'low' : 'normal');
  }

  #count({ before, after }: Changed): void {
    const { definition, onCounted } = this.#options;
    if (onCounted === undefined || after === undefined || !definition.countsAsAdded?.(after)) return;
    const isKnown = before?.metadata.uid === after.metadata.uid && definition.countsAsAdded(before!);
    if (!isKnown) onCounted();
  }

  watched(watch: WatchDefinition, change: Changed): void {
    const { facts, kind } = watch;
    if (matters(facts, change))
      this.#map(change, kind.kind, (object) => watch.to(object, this.#options.cache));
  }

  dynamic(source: Source, change: Changed): void {
    const { definition, cache } = this.#options;
    const { dynamic } = definition;
    if (dynamic === undefined || !matters(dynamic.facts, change)) return;
    this.#map(change, source.kind.kind, (object) => dynamic.to(object, source, cache));
  }

  add(key: ObjectKey, reason: string, priority: Priority): void {
    const { interner, queue } = this.#options;
    const id = interner.intern(keyText(key));
    queue.add(id, reason, priority);
    interner.release(id);
  }

  addAll(objects: Iterable<KubeObject>, reason: string): void {
    for (const object of objects) this.add(keyOf(object), reason, 'low');
  }

  #map(change: Changed, kind: string, to: (object: KubeObject) => Iterable<ObjectKey>): void {
    const reason = reasonOf(change, kind);
    for (const object of [change.before, change.after]) {
      if (object === undefined) continue;
      for (const key of to(object)) this.add(key, reason, change.initial ? 'low' : 'normal');
    }
  }
}

/** Whether the change needs a reconcile. An object that was deleted and recreated always does, even with equal facts. */
const matters = (facts: Facts<KubeObject> | undefined, { before, after }: Changed): boolean =>
  factsChanged(facts, before, after) || before?.metadata.uid !== after?.metadata.uid;

function reasonOf({ before, after, initial }: Changed, kind: string): string {
  if (initial) return `${kind} listed`;
  if (before === undefined) return `${kind} added`;
  return after === undefined ? `${kind} deleted` : `${kind} changed`;
}
