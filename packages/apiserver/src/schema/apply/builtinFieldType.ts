// Merge types of built-in kinds, from the generated table.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { BuiltinField, BuiltinTable, DefaultsTable } from '../builtinTable.ts';
import { zeroTyped } from '../typed.ts';
import { type FieldType, type MapType, scalarType, UNTYPED, UNTYPED_ATOMIC } from './fieldType.ts';

const SCALARS: Readonly<Record<string, FieldType>> = {
  string: scalarType('string'),
  bytes: scalarType('string'),
  bool: scalarType('boolean'),
  int32: scalarType('numeric'),
  int64: scalarType('numeric'),
  uint32: scalarType('numeric'),
  uint64: scalarType('numeric'),
  float64: scalarType('numeric'),
  Time: scalarType('untyped'),
  MicroTime: scalarType('untyped'),
  Duration: scalarType('string'),
  Quantity: scalarType('untyped'),
  IntOrString: scalarType('untyped'),
  RawExtension: UNTYPED,
  FieldsV1: UNTYPED,
  JSON: UNTYPED_ATOMIC,
};

export class BuiltinFieldTypes {
  readonly #table: BuiltinTable;
  readonly #defaults: DefaultsTable;
  readonly #types = new Map<string, FieldType>();

  constructor(table: BuiltinTable, defaults: DefaultsTable) {
    this.#table = table;
    this.#defaults = defaults;
  }

  /** A struct by its name in the table, or a scalar. */
  type(name: string): FieldType {
    const scalar = Object.hasOwn(SCALARS, name) ? SCALARS[name] : undefined;
    if (scalar !== undefined) return scalar;
    let type = this.#types.get(name);
    if (type === undefined) {
      type = { map: this.#struct(name) };
      this.#types.set(name, type);
    }
    return type;
  }

  /** The JSON of an empty struct: Go omits neither structs nor fields without omitempty. */
  zero(name: string): JsonObject {
    return zeroTyped(this.#table, name);
  }

  #struct(name: string): MapType {
    const struct = this.#table.types[name];
    if (struct === undefined) return UNTYPED.map!;
    const fields = new Map<string, () => FieldType>();
    for (const [field, definition] of Object.entries(struct.fields)) {
      let type: FieldType | undefined;
      fields.set(field, () => (type ??= this.#field(definition)));
    }
    // An object without declared fields accepts any field.
    const element = fields.size === 0 ? () => UNTYPED : undefined;
    return { fields, element, atomic: struct.mt === 'atomic' };
  }

  #field(field: BuiltinField): FieldType {
    const element = this.type(field.t);
    if (field.map) {
      const entry: FieldType = field.list
        ? { list: { element: () => element, atomic: true, keys: [], keyDefaults: {} } }
        : element;
      return { map: { fields: new Map(), element: () => entry, atomic: field.mt === 'atomic' } };
    }
    if (field.list) return this.#list(field, element);
    if (field.mt === undefined || element.map === undefined) return element;
    return { ...element, map: { ...element.map, atomic: field.mt === 'atomic' } };
  }

  #list({ t, lt, lk = [] }: BuiltinField, element: FieldType): FieldType {
    const defaults = this.#defaults[t] ?? {};
    const keyDefaults: Record<string, Json> = {};
    for (const key of lk) {
      const value = defaults[key] ?? this.#zeroKey(t, key);
      if (value !== undefined) keyDefaults[key] = value as Json;
    }
    const atomic = lt !== 'map' && lt !== 'set';
    return { list: { element: () => element, atomic, keys: lt === 'map' ? lk : [], keyDefaults } };
  }

  /** Fields that Go always writes default to their zero value. */
  #zeroKey(type: string, key: string): Json | undefined {
    const field = this.#table.types[type]?.fields[key];
    if (field === undefined || field.ptr || (field.omit && type !== LOCAL_REFERENCE)) return undefined;
    return { string: '', int32: 0, int64: 0 }[field.t];
  }
}

// Its name is optional and has an explicit default.
const LOCAL_REFERENCE = 'io.k8s.api.core.v1.LocalObjectReference';
