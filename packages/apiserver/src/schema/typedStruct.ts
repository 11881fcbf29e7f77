// Compiles the structs of the built-in table into decoders: one closure per field, by JSON name.

import { equal, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { DuplicateKey } from '@lapse/kube/api/jsonParse';
import type { BuiltinField, BuiltinTable, BuiltinType } from './builtinTable.ts';
import { canonicalResource } from './quantity.ts';
import { jsonSchemaUnion } from './typedJsonSchema.ts';
import { type Decoder, isScalar, quantityDecoder, SCALARS } from './typedScalars.ts';
import type { DecodeState, FieldStep } from './typedState.ts';

interface CompiledField extends FieldStep {
  decode: Decoder;
  /** The JSON value of an absent or null field; undefined when it is omitted. */
  absent: (() => Json) | undefined;
  /** Whether a decoded value is omitted. */
  leavesOut(value: Json): boolean;
  /** Go writes an empty list or map as null after it was stored. */
  nullWhenEmpty: boolean;
}

export interface CompiledStruct {
  decode(value: Json, state: DecodeState): Json;
  zero(): JsonObject;
}

// The only map where empty differs from absent: every stored schema forbids it.
const DEPENDENCIES = 'v1.JSONSchemaDependencies';

const isEmpty = (value: Json): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;

/** Go's spelling of an element type: `[]v1.Container` → `v1.Container`, `map[string][]uint8` → `[]uint8`. */
const elementType = (goType: string): string =>
  goType.replace(/^(?:\[\]|map\[[^\]]*\])/, '').replace(/^\*/, '');

/** apiextensions is stored as JSON, which keeps empty lists; all other groups are stored as protobuf. */
const storedAsJson = (typeName: string): boolean => typeName.startsWith('io.k8s.apiextensions-apiserver.');

export class StructCompiler {
  readonly #table: BuiltinTable;
  readonly #structs = new Map<string, CompiledStruct>();

  constructor(table: BuiltinTable) {
    this.#table = table;
  }

  structOf(typeName: string): CompiledStruct {
    const known = this.#structs.get(typeName);
    if (known !== undefined) return known;
    const type = this.#table.types[typeName];
    if (type === undefined)
      throw new Error(`type ${typeName} is not in the built-in type table; run npm run generate`);
    // JSON schemas contain themselves, so the entry is set before its fields are compiled.
    const struct = new Struct(type);
    this.#structs.set(typeName, struct);
    for (const [name, field] of Object.entries(type.fields))
      struct.add(this.#compileField(typeName, name, field));
    return struct;
  }

  #compileField(typeName: string, name: string, field: BuiltinField): CompiledField {
    const type = this.#table.types[typeName]!;
    const goType = (field.g ?? field.t).replace(/^\*/, '');
    return {
      name,
      owner: type.go.replace(/^.*\./, ''),
      goPath: this.#goPath(type, name),
      decode: this.#fieldDecoder(field, goType),
      absent: this.#absent(field),
      leavesOut: this.#leavesOut(field),
      nullWhenEmpty: (field.list || field.map) === true && field.omit !== true && !storedAsJson(typeName),
    };
  }

  /** Go's error paths contain embedded structs, which JSON does not show. */
  #goPath(type: BuiltinType, name: string): string {
    if (type.fields[name]?.n !== undefined) return name;
    if (name === 'kind' || name === 'apiVersion') return `TypeMeta.${name}`;
    const embedded = type.embedded?.find(({ t }) => this.#table.types[t]?.fields[name] !== undefined);
    const inner = embedded && this.#table.types[embedded.t];
    return inner === undefined ? name : `${inner.go.replace(/^.*\./, '')}.${this.#goPath(inner, name)}`;
  }

  #fieldDecoder(field: BuiltinField, goType: string): Decoder {
    if (field.map) {
      const inner = elementType(goType);
      const listed = field.list
        ? listDecoder(this.#valueDecoder(field, 'string'), inner, () => '')
        : undefined;
      return mapDecoder(listed ?? this.#valueDecoder(field, inner), goType, this.#elementZero(field));
    }
    if (field.list)
      return listDecoder(this.#valueDecoder(field, elementType(goType)), goType, this.#elementZero(field));
    return this.#valueDecoder(field, goType);
  }

  #valueDecoder(field: BuiltinField, goType: string): Decoder {
    if (field.g === 'v1.ResourceList') return quantityDecoder(canonicalResource);
    const form = field.pb === undefined ? undefined : this.#table.types[field.pb]?.wire;
    if (form === 'orArray' || form === 'orBool' || form === 'orStringArray')
      return jsonSchemaUnion(form, (value, state) =>
        this.structOf(this.#schemaType(field.pb!)).decode(value, state),
      );
    if (isScalar(field.t)) return SCALARS[field.t].decoder(goType);
    const struct = this.structOf(field.t);
    return (value, state) => struct.decode(value, state);
  }

  /** The struct of JSONSchemaPropsOrBool and the similar unions. */
  #schemaType(union: string): string {
    return this.#table.types[union]!.fields.schema!.t;
  }

  /** The value of null as an element of the list or map. */
  #elementZero(field: BuiltinField): () => Json {
    if (field.map && field.list) return () => null;
    // nil bytes in a map are read from the storage as empty ones.
    if (field.t === 'bytes') return () => '';
    if (isScalar(field.t)) {
      const { zero } = SCALARS[field.t];
      return () => zero;
    }
    return () => this.structOf(field.t).zero();
  }

  #absent(field: BuiltinField): (() => Json) | undefined {
    if (field.omitzero) return undefined;
    if (field.list || field.map || field.ptr) return field.omit ? undefined : () => null;
    if (!isScalar(field.t)) return () => this.structOf(field.t).zero();
    const { zero, struct } = SCALARS[field.t];
    return field.omit && !struct ? undefined : () => zero;
  }

  #leavesOut(field: BuiltinField): (value: Json) => boolean {
    const never = () => false;
    if (field.list || field.map) return field.omit && field.g !== DEPENDENCIES ? isEmpty : never;
    if (field.ptr) return never;
    if (field.omitzero) return this.#isZero(field);
    if (!field.omit || !isScalar(field.t) || SCALARS[field.t].struct) return never;
    return field.t === 'bytes'
      ? (value) => value === ''
      : (value) => value === '' || value === 0 || value === false;
  }

  #isZero(field: BuiltinField): (value: Json) => boolean {
    if (isScalar(field.t)) {
      const { zero } = SCALARS[field.t];
      return (value) => value === zero;
    }
    return (value) => equal(value, this.structOf(field.t).zero());
  }
}

class Struct implements CompiledStruct {
  readonly #goType: string;
  readonly #fields = new Map<string, CompiledField>();
  /** Fields that are written even when the body omits them. */
  readonly #always: { name: string; absent: () => Json }[] = [];

  constructor(type: BuiltinType) {
    this.#goType = type.go;
  }

  add(field: CompiledField): void {
    this.#fields.set(field.name, field);
    const { name, absent } = field;
    if (absent !== undefined) this.#always.push({ name, absent });
  }

  decode(value: Json, state: DecodeState): Json {
    if (!isObject(value)) {
      state.wrongType(value, this.#goType, 'struct');
      return this.zero();
    }
    state.enterStruct();
    const out: JsonObject = {};
    const duplicates = state.notes?.duplicates.get(value);
    const keys = Object.keys(value);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      if (duplicates !== undefined) this.#reportDuplicates(duplicates, i, state);
      const field = this.#fields.get(key);
      const json = value[key];
      if (field === undefined) state.addUnknown(key);
      else if (json !== null && json !== undefined) this.#decodeField(field, json, [out, state, value]);
    }
    if (duplicates !== undefined) this.#reportDuplicates(duplicates, keys.length, state);
    this.#fillAbsent(out);
    state.leaveStruct();
    return out;
  }

  #decodeField(
    field: CompiledField,
    json: Json,
    [out, state, holder]: [JsonObject, DecodeState, JsonObject],
  ): void {
    state.path.push(field);
    const decoded = field.decode(json, state, holder, field.name);
    state.path.pop();
    if (field.leavesOut(decoded)) return;
    out[field.name] = field.nullWhenEmpty && isEmpty(decoded) ? null : decoded;
  }

  /** Reports the keys that were repeated right before key number `at` was read. */
  #reportDuplicates(duplicates: readonly DuplicateKey[], at: number, state: DecodeState): void {
    for (const { key, before } of duplicates)
      if (before === at && this.#fields.has(key)) state.addDuplicate(key);
  }

  #fillAbsent(out: JsonObject): void {
    for (const { name, absent } of this.#always) if (!(name in out)) out[name] = absent();
  }

  zero(): JsonObject {
    const out: JsonObject = {};
    this.#fillAbsent(out);
    return out;
  }
}

function listDecoder(element: Decoder, goType: string, zero: () => Json): Decoder {
  return (value, state) => {
    if (!Array.isArray(value)) {
      state.wrongType(value, goType, 'slice');
      return [];
    }
    const out: Json[] = new Array(value.length);
    for (let i = 0; i < value.length; i++) {
      const json = value[i]!;
      state.path.push(i);
      out[i] = json === null ? zero() : element(json, state, value, String(i));
      state.path.pop();
    }
    return out;
  };
}

function mapDecoder(element: Decoder, goType: string, zero: () => Json): Decoder {
  return (value, state) => {
    if (!isObject(value)) {
      state.wrongType(value, goType, 'map');
      return {};
    }
    for (const { key } of state.notes?.duplicates.get(value) ?? []) state.addDuplicate(key);
    const out: JsonObject = {};
    const keys = Object.keys(value);
    for (const key of keys) {
      const json = value[key]!;
      state.path.push(key);
      setOwn(out, key, json === null ? zero() : element(json, state, value, key));
      state.path.pop();
    }
    return keys.some((key, i) => i > 0 && key < keys[i - 1]!) ? sorted(out, keys) : out;
  };
}

/** Go writes the keys of a map sorted. */
function sorted(map: JsonObject, keys: string[]): JsonObject {
  const out: JsonObject = {};
  for (const key of keys.sort()) setOwn(out, key, map[key]);
  return out;
}
