// The data types of a random sequence of requests.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { Picker } from '../apply/histories.ts';

/** A kind of object, with functions to create and change objects of it. */
export interface Subject {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Path of the collection; `{ns}` is the namespace. */
  readonly collection: string;
  readonly cluster: boolean;
  readonly custom: boolean;
  /** All writes except the first are dry runs: a real one would change other sequences. */
  readonly onlyDry: boolean;
  /** The real server may store an unchanged object again, so its versions are not compared. */
  readonly rewritten: boolean;
  /** The object named a exists already, under this name, and is shared: only dry runs may use it. */
  readonly existing?: string;
  readonly subresources: readonly string[];
  /** Fields that a selector may name. */
  readonly selectable: readonly string[];
  /** A valid object without apiVersion, kind and metadata. */
  base(): JsonObject;
  /** Changes one place, to a valid or an invalid value. */
  edit(object: JsonObject, pick: Picker): void;
  editStatus(object: JsonObject, pick: Picker): void;
}

export const VERBS = [
  'create',
  'get',
  'list',
  'update',
  'jsonPatch',
  'mergePatch',
  'strategicPatch',
  'apply',
  'status',
  'scale',
  'delete',
  'deleteCollection',
  'odd',
] as const;
export type Verb = (typeof VERBS)[number];

/** One request. Numbers are seeds: one for each change, and one for all optional parts (0: none). */
export interface Step {
  readonly verb: Verb;
  readonly name: string;
  readonly edits: readonly number[];
  readonly salt: number;
}

export interface Sequence {
  readonly subject: number;
  readonly steps: readonly Step[];
}

/** Which version (or uid) a request demands: none, the current one, an older one, or one that never existed. */
export type Demand = 'none' | 'right' | 'stale' | 'wrong';

/** A request before the generated names of the servers are known. */
export interface Draft {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or a text to be sent unchanged. */
  readonly body?: Json | undefined;
  readonly raw?: string;
}

/** What one server returned about the objects of a sequence, for use in later requests. */
export interface Memory {
  readonly objects: ReadonlyMap<string, JsonObject>;
  readonly versions: ReadonlyMap<string, readonly string[]>;
  readonly continueToken: string | undefined;
}
