// What a random sequence of requests is, as data.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { Picker } from '../apply/histories.ts';

/** A kind of object, and how to make and change objects of it. */
export interface Subject {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Path of the collection; `{ns}` is the namespace. */
  readonly collection: string;
  readonly cluster: boolean;
  readonly custom: boolean;
  /** Every write but the very first is a dry run: a real one would change other sequences. */
  readonly onlyDry: boolean;
  /** The real server may write an object anew that was sent as it is: its versions are not compared. */
  readonly rewritten: boolean;
  /** The object named a is there already, under this name, and shared: nothing but dry runs may touch it. */
  readonly existing?: string;
  readonly subresources: readonly string[];
  /** Fields that a selector may name. */
  readonly selectable: readonly string[];
  /** A good object without apiVersion, kind and metadata. */
  base(): JsonObject;
  /** Changes one place, well or badly. */
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

/** One request. Numbers are seeds: of a change each, and of all that is optional (0: nothing is). */
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

/** Which version (or uid) a request demands: none, the one the object has, one it had, one it never had. */
export type Demand = 'none' | 'right' | 'stale' | 'wrong';

/** A request before it is known what the servers called things. */
export interface Draft {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or a text to be sent as it is. */
  readonly body?: Json | undefined;
  readonly raw?: string;
}

/** What one server has told about the objects of a sequence, which requests refer to. */
export interface Memory {
  readonly objects: ReadonlyMap<string, JsonObject>;
  readonly versions: ReadonlyMap<string, readonly string[]>;
  readonly continueToken: string | undefined;
}
