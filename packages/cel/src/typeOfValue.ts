// The run-time type of a value, as type() returns it.

import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from './types.ts';
import {
  CelObject,
  Double,
  Duration,
  Failure,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts';

const LIST = listOf(DYN);
const MAP = mapOf(DYN, DYN);
const OPTIONAL = optionalOf(DYN);

export function typeOfValue(v: Value): CelType {
  switch (typeof v) {
    case 'boolean':
      return BOOL;
    case 'number':
    case 'bigint':
      return INT;
    case 'string':
      return STRING;
  }
  if (v === null) return NULL;
  if (Array.isArray(v)) return LIST;
  if (v instanceof Uint8Array) return BYTES;
  return v instanceof CelObject ? typeOfObject(v) : MAP;
}

const GO_NAMES: Readonly<Record<string, string>> = {
  null: 'types.Null',
  bool: 'types.Bool',
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bytes: 'types.Bytes',
  timestamp: 'types.Timestamp',
  duration: 'types.Duration',
  type: '*types.Type',
};

/** The Go type name of a value, which appears in some of cel-go's messages. */
export function goTypeName(v: Value): string {
  const type = typeOfValue(v);
  return GO_NAMES[type.kind] ?? (type.name === 'optional_type' ? '*types.Optional' : type.name);
}

function typeOfObject(v: CelObject): CelType {
  if (v instanceof Double) return DOUBLE;
  if (v instanceof Uint) return UINT;
  if (v instanceof Timestamp) return TIMESTAMP;
  if (v instanceof Duration) return DURATION;
  if (v instanceof Optional) return OPTIONAL;
  if (v instanceof TypeValue) return TYPE;
  if (v instanceof Failure) return ERROR;
  return v instanceof Opaque ? v.opaqueType() : MAP;
}
