// The well-known protobuf messages (wrappers, Struct, Value, ListValue, Timestamp, Duration) as constructors.
// Their values are ordinary CEL values. Other protobuf messages are not supported.

import type { FieldType } from './provider.ts';
import {
  ANY,
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  nullable,
  STRING,
  TIMESTAMP,
  UINT,
} from './types.ts';
import { Double, Duration, Failure, fail, isInt, Timestamp, Uint, type Value } from './values.ts';

type Fields = ReadonlyMap<string, Value>;

interface WellKnown {
  readonly type: CelType;
  readonly fields: Readonly<Record<string, CelType>>;
  readonly build: (fields: Fields) => Value;
}

const wrapper = (type: CelType, zero: Value, check: (v: Value) => Value = (v) => v): WellKnown => ({
  type: nullable(type),
  fields: { value: type },
  build: (fields) => check(fields.get('value') ?? zero),
});

const int32 = (v: Value): Value => (isInt(v) && v >= -(2 ** 31) && v < 2 ** 31 ? v : fail('range error'));
const uint32 = (v: Value): Value => (v instanceof Uint && v.uintBits < 2n ** 32n ? v : fail('range error'));
const float = (v: Value): Value => (v instanceof Double ? new Double(Math.fround(v.float64)) : v);

const numberOf = (v: Value | undefined): number => (v !== undefined && isInt(v) ? Number(v) : 0);

const VALUE_FIELDS: Readonly<Record<string, CelType>> = {
  null_value: NULL,
  number_value: DOUBLE,
  string_value: STRING,
  bool_value: BOOL,
  struct_value: mapOf(STRING, DYN),
  list_value: listOf(DYN),
};

const KNOWN: ReadonlyMap<string, WellKnown> = new Map<string, WellKnown>([
  ['google.protobuf.BoolValue', wrapper(BOOL, false)],
  ['google.protobuf.BytesValue', wrapper(BYTES, new Uint8Array(0))],
  ['google.protobuf.DoubleValue', wrapper(DOUBLE, new Double(0))],
  ['google.protobuf.FloatValue', wrapper(DOUBLE, new Double(0), float)],
  ['google.protobuf.Int32Value', wrapper(INT, 0, int32)],
  ['google.protobuf.Int64Value', wrapper(INT, 0)],
  ['google.protobuf.StringValue', wrapper(STRING, '')],
  ['google.protobuf.UInt32Value', wrapper(UINT, new Uint(0n), uint32)],
  ['google.protobuf.UInt64Value', wrapper(UINT, new Uint(0n))],
  [
    'google.protobuf.Struct',
    {
      type: mapOf(STRING, DYN),
      fields: { fields: mapOf(STRING, DYN) },
      build: (fields) => fields.get('fields') ?? {},
    },
  ],
  [
    'google.protobuf.ListValue',
    { type: listOf(DYN), fields: { values: listOf(DYN) }, build: (fields) => fields.get('values') ?? [] },
  ],
  [
    'google.protobuf.Value',
    { type: DYN, fields: VALUE_FIELDS, build: (fields) => fields.values().next().value ?? null },
  ],
  [
    'google.protobuf.Timestamp',
    {
      type: TIMESTAMP,
      fields: { seconds: INT, nanos: INT },
      build: (fields) => new Timestamp(numberOf(fields.get('seconds')), numberOf(fields.get('nanos'))),
    },
  ],
  [
    'google.protobuf.Duration',
    {
      type: DURATION,
      fields: { seconds: INT, nanos: INT },
      build: (fields) => new Duration(numberOf(fields.get('seconds')), numberOf(fields.get('nanos'))),
    },
  ],
  [
    'google.protobuf.Any',
    {
      type: ANY,
      fields: { type_url: STRING, value: BYTES },
      build: () => fail('conversion error: protobuf messages are not supported'),
    },
  ],
]);

/** The CEL type of a well-known message, or undefined for other names. */
export const wellKnownStruct = (name: string): CelType | undefined => KNOWN.get(name)?.type;

export function wellKnownField(struct: string, field: string): FieldType | undefined {
  const fields = KNOWN.get(struct)?.fields;
  return fields !== undefined && Object.hasOwn(fields, field) ? { type: fields[field]! } : undefined;
}

/** The names, for type declarations. */
export const WELL_KNOWN_NAMES: readonly string[] = [...KNOWN.keys()];

/** Builds a well-known message from its field values. */
export function buildWellKnown(name: string, fields: Fields): Value {
  const known = KNOWN.get(name);
  if (known === undefined) return fail(`unknown type '${name}'`);
  const error = [...fields.values()].find((v) => v instanceof Failure);
  return error ?? known.build(fields);
}
