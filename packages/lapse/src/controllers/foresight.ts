// What a family can say beforehand: given what a cluster looks like and a time, what will become of each object by its
// rules. `lapse plan` and `lapse explain` ask this. Answers come from the family's compute functions, the same that its
// controllers act on; nothing here or in a foresee.ts knows a rule of its own.

import type { Instant, Millis } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Source } from '@lapse/runtime/source';

export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

/** Something could not be read; `message` says what and why. Whoever asked goes on without it, and says so. */
export class Unreadable extends Error {}

/** A cluster, or some manifests, to be read and never written. Throws Unreadable for what cannot be read. */
export interface Snapshot {
  /** Preferred versions first. */
  readonly served: readonly ServedKind[];
  /** Everything of a source. Sources of the same projection are read once, however often they are asked for. */
  list<T extends KubeObject>(source: Source<T>): Promise<readonly T[]>;
  /**
   * The objects that a rule is asked about, page by page. Not kept, and whoever asks about few objects may be given
   * only those: what a rule reads beside them must come from `list`.
   */
  each<T extends KubeObject>(source: Source<T>): AsyncIterable<readonly T[]>;
}

export interface Outlook {
  readonly snapshot: Snapshot;
  readonly now: Instant;
  /** How far a finish may lie in the future and still be believed. */
  readonly tolerance: Millis;
  /** Whose rights count where somebody acts for an author. */
  readonly actAs: 'author' | 'controller';
  /** Set: nothing outside this namespace is watched or touched. */
  readonly namespace?: string;
  isEnabled(gate: string): boolean;
  /** The sections of the family, complete with defaults and valid. */
  readonly configuration: Readonly<Record<string, JsonObject>>;
  /** When nothing will be left of the object with this uid, by any rule or with its owner. */
  endOf(uid: string): Instant | undefined;
  /** When it may go already: which of two things is first is chance. */
  mayEndAt?(uid: string): Instant | undefined;
}

interface About {
  readonly object: ObjectName;
  /** `spec.ttlSecondsAfterFinished`, `TTLPolicy ci/tekton`, `Cleaner ns/x`. */
  readonly rule: string;
  /** One sentence, without the final dot. */
  readonly because: string;
}

/** It is deleted at this time (in the past: as soon as the controller runs) unless something changes. */
export interface Ends extends About {
  readonly kind: 'ends';
  readonly at: Instant;
  /** Unset: what the object itself asks for with its finalizers, as the API server does. */
  readonly propagation?: Propagation;
  /** The deletion names only the uid: the decision was written down before. */
  readonly anyVersion?: boolean;
  /** It rests on something that is chance. */
  readonly perhaps?: boolean;
}

/** A rule means it, and something keeps the rule from acting. `until`: when that is looked at again, or ends. */
export interface Holds extends About {
  readonly kind: 'held';
  readonly until?: Instant;
}

/** A rule looked at it and leaves it alone; `because` says why, and so what would change that. */
export interface Stays extends About {
  readonly kind: 'stays';
}

/** It stays, and time alone changes what is said about it. */
export interface Changes extends About {
  readonly kind: 'changes';
  readonly at: Instant;
}

export type Statement = Ends | Holds | Stays | Changes;

export interface Foresight {
  /** Its answers depend on when other objects go (`endOf`): it is asked again when more of that is known. */
  readonly followsOthers?: boolean;
  foresee(outlook: Outlook): AsyncIterable<Statement>;
}

/** How an object is called in statements. Metadata that was read without the rest does not know its kind. */
export function nameOf(kind: Kind, { metadata }: KubeObject): ObjectName {
  const { namespace, name = '', uid = '' } = metadata;
  const home = namespace === undefined || namespace === '' ? {} : { namespace };
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...home, name, uid };
}

/** `, being deleted since …` in words: who keeps an object that was deleted already. */
export function describeLingering({ metadata }: KubeObject): string {
  const { deletionTimestamp = '', finalizers = [] } = metadata;
  const kept = finalizers.length === 0 ? '' : `, kept by the finalizer ${finalizers.join(', ')}`;
  return `being deleted since ${deletionTimestamp}${kept}`;
}

/** Whether the server has the kind, in this version. */
export const isServed = ({ served }: Snapshot, { group, version, resource }: Kind): boolean =>
  served.some((kind) => kind.group === group && kind.version === version && kind.resource === resource);

/** One part after the other; what one of them cannot read does not keep the others from speaking. */
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
