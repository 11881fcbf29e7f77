// Which fields of a built-in object somebody reads, with the numbers protobuf knows them by. Whoever hands a shape to a
// list or watch says that nothing else matters: a server that can is then asked for protobuf, whose other fields are
// skipped without being looked at, and the objects hold these fields only. A server that cannot sends JSON, whole.
//
// The numbers never change (they are part of the API); tests compare them with the table of built-in types.

export type FieldForm =
  | 'text'
  /** A list of texts. */
  | 'texts'
  /** An integer that may be unset; exact up to 2^53. */
  | 'int'
  /** A truth value that may be unset. */
  | 'flag'
  /** RFC 3339, seconds. Absent when zero. */
  | 'time'
  /** Texts by text. */
  | 'map'
  /** An object of its own. */
  | 'one'
  /** A list of objects. */
  | 'many';

export interface Field {
  readonly number: number;
  readonly form: FieldForm;
  /** Of `one` and `many`. */
  readonly shape?: Shape;
  /** Of `map`: the keys that matter; unset: all. */
  readonly keys?: readonly string[];
}

/** By the names of JSON. */
export type Shape = Readonly<Record<string, Field>>;

export const text = (number: number): Field => ({ number, form: 'text' });
export const texts = (number: number): Field => ({ number, form: 'texts' });
export const int = (number: number): Field => ({ number, form: 'int' });
export const flag = (number: number): Field => ({ number, form: 'flag' });
export const time = (number: number): Field => ({ number, form: 'time' });
export const map = (number: number, keys?: readonly string[]): Field =>
  keys === undefined ? { number, form: 'map' } : { number, form: 'map', keys };
export const one = (number: number, shape: Shape): Field => ({ number, form: 'one', shape });
export const many = (number: number, shape: Shape): Field => ({ number, form: 'many', shape });

/** What every reader of an object needs to name exactly it. */
export const IDENTITY: Shape = { name: text(1), namespace: text(3), uid: text(5), resourceVersion: text(6) };

export const DELETION: Shape = { deletionTimestamp: time(9), finalizers: texts(14) };

export const OWNER: Shape = {
  kind: text(1),
  name: text(3),
  uid: text(4),
  apiVersion: text(5),
  controller: flag(6),
  blockOwnerDeletion: flag(7),
};

export const annotations = (keys: readonly string[]): Shape => ({ annotations: map(12, keys) });
export const OWNERS: Shape = { ownerReferences: many(13, OWNER) };
