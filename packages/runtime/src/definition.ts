// A controller as data: what it is for, what it watches, and one function that brings one object where it should be.

import type { Instant } from '@lapse/base/instant';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Facts } from './facts.ts';
import type { Outcome } from './outcome.ts';
import type { KindReader, Pass } from './pass.ts';
import type { RetryOptions } from './retry.ts';
import type { Source } from './source.ts';

/**
 * Objects of another kind and the keys they concern. `to` is asked for the object before and after a change, and must
 * be pure: it looks things up in the cache (through indexes) and cannot fail, so no event is lost on the way.
 */
export interface WatchDefinition<T extends KubeObject = KubeObject> extends Source<T> {
  /**
   * The controller starts without this watch when its kind is not served or may not be listed. Its cache is then empty:
   * ask `cache.isSynced` before something that is not there decides.
   */
  readonly optional?: boolean;
  readonly facts?: Facts<T>;
  to(object: T, cache: KindReader): Iterable<ObjectKey>;
}

/** How the sources that passes declare while the process runs (`pass.dynamic`) lead back to keys. */
export interface DynamicDefinition {
  readonly facts?: Facts<KubeObject>;
  to(object: KubeObject, source: Source, cache: KindReader): Iterable<ObjectKey>;
}

/** A verb the controller uses. What it lists and watches follows from its sources and need not be said. */
export interface Right {
  readonly group: string;
  /** `jobs`, or `jobs/status`; `*` in the group `*` for everything, which only stand-ins need. */
  readonly resource: string;
  readonly verbs: readonly string[];
}

export interface ControllerDefinition<T extends KubeObject = KubeObject> extends Omit<Source<T>, 'kind'> {
  readonly name: string;
  /** The kind whose keys are reconciled. */
  readonly for: Kind<T>;
  readonly facts?: Facts<T>;
  /** When an object of the initial list is worth its first look; overdue ones then come in the order of deadlines. */
  firstLook?(object: T): Instant | undefined;
  /**
   * The object changed, or was removed (undefined), while this replica does not lead: no reconcile follows. A controller
   * that keeps anything by key forgets it when the object is removed.
   */
  onStandbyChange?(key: ObjectKey, object: T | undefined): void;
  readonly watches?: readonly WatchDefinition[];
  readonly dynamic?: DynamicDefinition;
  /** Passes at once; 4 unless told. */
  readonly concurrency?: number;
  /** `name` of the workqueue metrics; the controller's unless told. */
  readonly queue?: string;
  /** Objects that `workqueue_adds_total` counts, each when it first matches; default: every key that is added. */
  countsAsAdded?(object: T): boolean;
  readonly retry?: RetryOptions;
  /** After this many failures in a row an Event on the object says so; 10 unless told. */
  readonly stuckAfter?: number;
  readonly rights?: readonly Right[];
  /** This process stops acting, perhaps only for now: another replica may go on, and nobody here hears of what it does. */
  onPause?(): void;
  /**
   * The lease was lost and the last reconcile has ended. The queue and the dynamic watches are empty; when the replica
   * leads again, every object is reconciled as after a start.
   */
  onStandby?(): void;
  reconcile(pass: Pass): Promise<Outcome> | Outcome;
}

const NAME = /^[a-z][a-z0-9-]*$/;

/** Checks what the compiler cannot, and gives the definition back. */
export function defineController<T extends KubeObject>(
  definition: ControllerDefinition<T>,
): ControllerDefinition<T> {
  const { name, concurrency = 1 } = definition;
  const wrong = (what: string) => new Error(`controller ${JSON.stringify(name)}: ${what}`);
  if (!NAME.test(name)) throw wrong('the name is not lower-case words joined by dashes');
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw wrong('concurrency must be a whole number above zero');
  const kinds = new Set<string>();
  for (const { kind } of sourcesOf(definition)) {
    const id = kindId(kind);
    if (kinds.has(id)) throw wrong(`${id} is watched twice`);
    kinds.add(id);
  }
  return definition;
}

/** A kind as the key of a table: versions are part of it, the way of looking at it (whole, metadata) is not. */
export const kindId = ({ group, version, resource }: Kind): string => `${group}/${version}/${resource}`;

/** Everything the controller watches from the start, its own kind first. */
export function sourcesOf(definition: ControllerDefinition): readonly Source[] {
  return [primarySource(definition), ...(definition.watches ?? [])];
}

export function primarySource<T extends KubeObject>(definition: ControllerDefinition<T>): Source<T> {
  const { namespace, labelSelector, fieldSelector, projection, indexes } = definition;
  return {
    kind: definition.for,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(projection === undefined ? {} : { projection }),
    ...(indexes === undefined ? {} : { indexes }),
  };
}

/** Exactly what the controller must be allowed to do, one entry per resource, sorted. */
export function rightsOf(definition: ControllerDefinition): Right[] {
  const verbs = new Map<string, Set<string>>();
  const allow = (group: string, resource: string, more: readonly string[]) => {
    const key = `${group}/${resource}`;
    verbs.set(key, new Set([...(verbs.get(key) ?? []), ...more]));
  };
  for (const { kind } of sourcesOf(definition)) allow(kind.group, kind.resource, ['list', 'watch']);
  for (const right of definition.rights ?? []) allow(right.group, right.resource, right.verbs);
  return [...verbs]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, set]) => {
      const slash = key.indexOf('/');
      return { group: key.slice(0, slash), resource: key.slice(slash + 1), verbs: [...set].sort() };
    });
}
