// The interface of forecasts: given a snapshot of a cluster and a time, what the rules of a family will do with each
// object. Used by `lapse plan` and `lapse explain`. Forecasts call the same compute functions as the controllers.
// Neither this file nor a forecast.ts defines a rule of its own.

import type { Instant, Millis } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { listedReader } from '@lapse/runtime/listedReader';
import type { KindReader } from '@lapse/runtime/reconcileContext';
import type { Source } from '@lapse/runtime/source';
import type { NotApplicable } from '#expiry/expiry';

export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

/** Something could not be read. `message` says what and why. The caller continues without it and reports it. */
export class Unreadable extends Error {}

/** A cluster or a set of manifests, read-only. Throws Unreadable for what cannot be read. */
export interface Snapshot {
  /** Preferred versions first. */
  readonly served: readonly ServedKind[];
  /** All objects of a source. Sources with the same projection are read once. */
  list<T extends KubeObject>(source: Source<T>): Promise<readonly T[]>;
  /**
   * The objects that a rule is evaluated for, page by page. Not cached. The caller may restrict them to a few
   * objects, so everything else that a rule reads must come from `list`.
   */
  each<T extends KubeObject>(source: Source<T>): AsyncIterable<readonly T[]>;
}

export interface ForecastContext {
  readonly snapshot: Snapshot;
  readonly now: Instant;
  /** How far a finish time may be in the future and still be accepted. */
  readonly tolerance: Millis;
  /** Whose rights count when a controller acts for an author. */
  readonly actAs: 'author' | 'controller';
  /** If set, nothing outside this namespace is watched or changed. */
  readonly namespace?: string;
  isEnabled(gate: string): boolean;
  /** The sections of the family, valid and with defaults applied. */
  readonly configuration: Readonly<Record<string, JsonObject>>;
  /** When the object with this uid is deleted completely, by any rule or with its owner. */
  endOf(uid: string): Instant | undefined;
  /** The earliest time at which it may be deleted, where the order of two events is not determined. */
  mayEndAt?(uid: string): Instant | undefined;
}

/** Why an object is held or kept, for programs. `because` says it in words, which may change. */
export type StatementReason =
  | 'DryRun'
  | 'Paused'
  | 'OptedOut'
  | 'InvalidTTL'
  | 'FinishTimeUnknown'
  | 'Unfinished'
  | 'NoTTL'
  | 'Terminating'
  | 'LimitExceeded';

export const REASONS: Readonly<Record<NotApplicable, StatementReason>> = {
  unfinished: 'Unfinished',
  'being deleted': 'Terminating',
  'no TTL': 'NoTTL',
  'opted out': 'OptedOut',
  'invalid TTL': 'InvalidTTL',
  'finish time unknown': 'FinishTimeUnknown',
};

interface About {
  readonly object: ObjectName;
  /** `spec.ttlSecondsAfterFinished`, `TTLPolicy ci/tekton`, `Cleaner ns/x`. */
  readonly rule: string;
  /** All policies that were evaluated for the object, if `rule` does not name all of them. */
  readonly policies?: readonly string[];
  /** One sentence, without the full stop. */
  readonly because: string;
  readonly reason?: StatementReason;
}

/** The object is deleted at this time if nothing changes. A time in the past means: as soon as the controller runs. */
export interface DeletedStatement extends About {
  readonly kind: 'deleted';
  readonly at: Instant;
  /** Default: according to the finalizers of the object, as the API server does. */
  readonly propagation?: Propagation;
  /** The DELETE has only the uid as a precondition: the decision was recorded before. */
  readonly anyVersion?: boolean;
  /** The result depends on an undetermined order of events. */
  readonly uncertain?: boolean;
}

/** A rule would delete the object, but something blocks it. `until`: when that is checked again, or ends. */
export interface HeldStatement extends About {
  readonly kind: 'held';
  readonly until?: Instant;
}

/** A rule was evaluated and keeps the object. `because` says why, and thus what would change the result. */
export interface KeptStatement extends About {
  readonly kind: 'kept';
}

/** The object is kept, but its statement changes with time alone. */
export interface ChangeStatement extends About {
  readonly kind: 'changes';
  readonly at: Instant;
}

export type Statement = DeletedStatement | HeldStatement | KeptStatement | ChangeStatement;

export interface Forecaster {
  /**
   * The statements depend on when other objects are deleted (`endOf`). The forecast is repeated when more of that
   * is known.
   */
  readonly followsOthers?: boolean;
  forecast(forecastContext: ForecastContext): AsyncIterable<Statement>;
}

/** The name of an object in statements. Dependents the kind separately, because metadata-only objects lack it. */
export function nameOf(kind: Kind, { metadata }: KubeObject): ObjectName {
  const { namespace, name = '', uid = '' } = metadata;
  const home = namespace === undefined || namespace === '' ? {} : { namespace };
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...home, name, uid };
}

/** `terminating since …`: with the finalizers that keep a terminating object. */
export function describeTerminating({ metadata }: KubeObject): string {
  const { deletionTimestamp = '', finalizers = [] } = metadata;
  const kept = finalizers.length === 0 ? '' : `, kept by the finalizer ${finalizers.join(', ')}`;
  return `terminating since ${deletionTimestamp}${kept}`;
}

/** Whether the API server serves the kind in this version. */
export const isServed = ({ served }: Snapshot, { group, version, resource }: Kind): boolean =>
  served.some((kind) => kind.group === group && kind.version === version && kind.resource === resource);

/**
 * Lists the sources of a controller and serves them with the interface of its caches, so that the functions which
 * gather the input of a reconcile serve forecasts too. A kind that is not served has no objects.
 */
export async function readSources(snapshot: Snapshot, sources: readonly Source[]): Promise<KindReader> {
  const read = async (source: Source) => ({
    source,
    objects: isServed(snapshot, source.kind) ? await snapshot.list(source) : [],
  });
  return listedReader(await Promise.all(sources.map(read)));
}

/** Yields the parts one after the other. An unreadable part does not prevent the others. */
export async function* inTurn(parts: readonly AsyncIterable<Statement>[]): AsyncGenerator<Statement> {
  const problems: string[] = [];
  for (const part of parts)
    try {
      yield* part;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      problems.push(error.message);
    }
  if (problems.length > 0) throw new Unreadable(problems.join('; '));
}
