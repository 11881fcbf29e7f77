// Merge types: whether a value is atomic or has parts, and how the parts are identified. Made from the table of
// built-in kinds (builtinFieldType.ts) or from the schema of a custom resource (customFieldType.ts).

import type { Json } from '@lapse/kube/api/json';

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListType {
  readonly element: () => FieldType;
  /** Atomic lists are one value; others are maps by key, or sets without keys. */
  readonly atomic: boolean;
  readonly keys: readonly string[];
  /** The values of absent keys. */
  readonly keyDefaults: Readonly<Record<string, Json>>;
}

export interface MapType {
  readonly fields: ReadonlyMap<string, () => FieldType>;
  /** The type of undeclared entries; undefined when none are allowed. */
  readonly element: (() => FieldType) | undefined;
  readonly atomic: boolean;
}

/** May have several shapes where the schema allows it; the value decides. */
export interface FieldType {
  readonly scalar?: Scalar;
  readonly list?: ListType;
  readonly map?: MapType;
}

export const scalarType = (scalar: Scalar): FieldType => ({ scalar });

/** Any value; lists and maps are atomic. */
export const UNTYPED_ATOMIC: FieldType = {
  scalar: 'untyped',
  list: { element: () => UNTYPED_ATOMIC, atomic: true, keys: [], keyDefaults: {} },
  map: { fields: new Map(), element: () => UNTYPED_ATOMIC, atomic: true },
};

/** Any value; lists are atomic, maps are merged entry by entry. */
export const UNTYPED: FieldType = {
  scalar: 'untyped',
  list: { element: () => UNTYPED_ATOMIC, atomic: true, keys: [], keyDefaults: {} },
  map: { fields: new Map(), element: () => UNTYPED, atomic: false },
};

/** The type of one entry. */
export const entryType = (map: MapType, name: string): FieldType | undefined =>
  (map.fields.get(name) ?? map.element)?.();

export type Shape = 'map' | 'scalar' | 'list';

/** The shape for a value: its own if the type allows it, otherwise the first allowed one. */
export function shapeOf(type: FieldType, value: Json | undefined): Shape {
  if (value !== undefined && value !== null) {
    const found: Shape = Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : 'scalar';
    if (type[found] !== undefined) return found;
  }
  return type.map !== undefined ? 'map' : type.scalar !== undefined ? 'scalar' : 'list';
}
