// A shape lists the fields of a built-in object that a caller reads, with their protobuf field numbers. A caller that
// passes a shape to a list or watch declares that it needs no other field. The client then requests protobuf, skips all
// other fields unread, and returns objects with these fields only. A server without protobuf sends complete JSON.
//
// Field numbers are part of the API and never change. Tests compare them with the table of built-in types.

export type FieldForm =
  | 'text'
  /** A list of strings. */
  | 'texts'
  /** An optional integer, exact up to 2^53. */
  | 'int'
  /** An optional boolean. */
  | 'flag'
  /** RFC 3339 with seconds. Absent if zero. */
  | 'time'
  /** A map from string to string. */
  | 'map'
  /** A nested object. */
  | 'one'
  /** A list of objects. */
  | 'many';

export interface Field {
  readonly number: number;
  readonly form: FieldForm;
  /** For `one` and `many`: the shape of the nested objects. */
  readonly shape?: Shape;
  /** For `map`: the keys to read. Default: all. */
  readonly keys?: readonly string[];
}

/** Fields by their JSON names. */
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

/** The fields that identify an object. */
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
