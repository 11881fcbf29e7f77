// The declarative definition of a controller: its kind, its watches, its RBAC rules and its reconcile function.

import type { Instant } from '@lapse/base/instant';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Facts } from './facts.ts';
import type { Outcome } from './outcome.ts';
import type { KindReader, ReconcileContext } from './reconcileContext.ts';
import type { RetryOptions } from './retry.ts';
import type { Source } from './source.ts';

/**
 * A watch on another kind. `to` maps an object to the keys to reconcile. It is called with the object before and after a
 * change. It must be pure and must not fail, so that no event is lost; it may read the cache through indexes.
 */
export interface WatchDefinition<T extends KubeObject = KubeObject> extends Source<T> {
  /**
   * The controller starts without this watch when its kind is not served or listing is forbidden. The cache is then empty:
   * check `cache.isSynced` before a decision depends on an object being absent.
   */
  readonly optional?: boolean;
  readonly facts?: Facts<T>;
  to(object: T, cache: KindReader): Iterable<ObjectKey>;
}

/** Maps objects of the sources declared at run time (`ctx.dynamic`) to the keys to reconcile. */
export interface DynamicDefinition {
  readonly facts?: Facts<KubeObject>;
  to(object: KubeObject, source: Source, cache: KindReader): Iterable<ObjectKey>;
}

/** An RBAC rule the controller needs. `list` and `watch` on its sources are derived and need not be declared. */
export interface Right {
  readonly group: string;
  /** `jobs` or `jobs/status`. `*` in group `*` means everything; only simulated controllers need it. */
  readonly resource: string;
  readonly verbs: readonly string[];
}

export interface ControllerDefinition<T extends KubeObject = KubeObject> extends Omit<Source<T>, 'kind'> {
  readonly name: string;
  /** The kind whose keys are reconciled. */
  readonly for: Kind<T>;
  readonly facts?: Facts<T>;
  /** When to reconcile an object of the initial list first. Overdue objects are reconciled in the order of deadlines. */
  firstDeadline?(object: T): Instant | undefined;
  /**
   * Called when the object changed or was removed (undefined) while this replica is not the leader. No reconcile follows.
   * A controller that keeps state by key must drop it when the object is removed.
   */
  onStandbyChange?(key: ObjectKey, object: T | undefined): void;
  readonly watches?: readonly WatchDefinition[];
  readonly dynamic?: DynamicDefinition;
  /** Maximum number of concurrent reconciles; default: 4. */
  readonly concurrency?: number;
  /** `name` label of the workqueue metrics; default: the controller's name. */
  readonly queue?: string;
  /** Whether `workqueue_adds_total` counts the object, once when it first matches; default: every key that is added. */
  countsAsAdded?(object: T): boolean;
  readonly retry?: RetryOptions;
  /** Number of consecutive failures after which an Event is emitted on the object; default: 10. */
  readonly stuckAfter?: number;
  readonly rights?: readonly Right[];
  /** Called when this process stops reconciling, possibly temporarily. Another replica may act unobserved meanwhile. */
  onPause?(): void;
  /**
   * Called after the lease was lost and the last reconcile has ended. The queue and the dynamic watches are empty. When
   * the replica leads again, every object is reconciled as after a start.
   */
  onStandby?(): void;
  reconcile(ctx: ReconcileContext): Promise<Outcome> | Outcome;
}

const NAME = /^[a-z][a-z0-9-]*$/;

/** Validates what the type system cannot and returns the definition. Throws if it is invalid. */
export function defineController<T extends KubeObject>(
  definition: ControllerDefinition<T>,
): ControllerDefinition<T> {
  const { name, concurrency = 1 } = definition;
  const invalid = (what: string) => new Error(`controller ${JSON.stringify(name)}: ${what}`);
  if (!NAME.test(name)) throw invalid('the name is not lower-case words joined by dashes');
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw invalid('concurrency must be a whole number above zero');
  const kinds = new Set<string>();
  for (const { kind } of sourcesOf(definition)) {
    const id = kindId(kind);
    if (kinds.has(id)) throw invalid(`${id} is watched twice`);
    kinds.add(id);
  }
  return definition;
}

/** A map key for a kind. It includes the version but not the representation (full object or metadata only). */
export const kindId = ({ group, version, resource }: Kind): string => `${group}/${version}/${resource}`;

/** The static sources of the controller, its own kind first. */
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

/** The minimal RBAC rules of the controller: one entry per resource, sorted. */
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
