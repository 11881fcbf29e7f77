// What merging must know about a value: whether it is one thing or many, and how the many are told apart. Made from the
// table of built-in kinds (builtinFieldType.ts) or from the schema of a custom one (customFieldType.ts).

import type { Json } from '@lapse/kube/api/json';

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListType {
  readonly element: () => FieldType;
  /** Atomic lists are one value; others are maps of their keys, or sets when there are none. */
  readonly atomic: boolean;
  readonly keys: readonly string[];
  /** What a key is when it is absent. */
  readonly keyDefaults: Readonly<Record<string, Json>>;
}

export interface MapType {
  readonly fields: ReadonlyMap<string, () => FieldType>;
  /** Of entries that are no declared field; undefined: there may be none. */
  readonly element: (() => FieldType) | undefined;
  readonly atomic: boolean;
}

/** Several at once where the schema leaves it open; the value decides. */
export interface FieldType {
  readonly scalar?: Scalar;
  readonly list?: ListType;
  readonly map?: MapType;
}

export const scalarType = (scalar: Scalar): FieldType => ({ scalar });

/** Anything, and whatever has parts is one value. */
export const UNTYPED_ATOMIC: FieldType = {
  scalar: 'untyped',
  list: { element: () => UNTYPED_ATOMIC, atomic: true, keys: [], keyDefaults: {} },
  map: { fields: new Map(), element: () => UNTYPED_ATOMIC, atomic: true },
};

/** Anything; lists are one value, maps are merged entry by entry. */
export const UNTYPED: FieldType = {
  scalar: 'untyped',
  list: { element: () => UNTYPED_ATOMIC, atomic: true, keys: [], keyDefaults: {} },
  map: { fields: new Map(), element: () => UNTYPED, atomic: false },
};

/** The type of one entry. */
export const entryType = (map: MapType, name: string): FieldType | undefined =>
  (map.fields.get(name) ?? map.element)?.();

export type Shape = 'map' | 'scalar' | 'list';

/** How a value is to be read: as what it is if that is allowed, else as the first form that is. */
export function shapeOf(type: FieldType, value: Json | undefined): Shape {
  if (value !== undefined && value !== null) {
    const found: Shape = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : 'scalar';
    if (type[found] !== undefined) return found;
  }
  return type.map !== undefined ? 'map' : type.scalar !== undefined ? 'scalar' : 'list';
}
