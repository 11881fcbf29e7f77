// Converts between cel-spec's protobuf values and the engine's, and to a text form in which results are compared.

import type { Type } from '@bufbuild/cel-spec/cel/expr/checked_pb.js';
import type { Value as SpecValue } from '@bufbuild/cel-spec/cel/expr/value_pb.js';
import type { Message } from '@bufbuild/protobuf';
import type { Any } from '@bufbuild/protobuf/wkt';
import { toInt } from '@lapse/cel/numbers';
import { canonicalKey } from '@lapse/cel/select';
import { durationNanos } from '@lapse/cel/time';
import {
  ANY,
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
  nullable,
  opaque,
  param,
  STRING,
  structOf,
  TIMESTAMP,
  TYPE,
  typeOf,
  UINT,
} from '@lapse/cel/types';
import {
  type CelKey,
  CelMap,
  Double,
  Duration,
  isPlainMap,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from '@lapse/cel/values';
import { wellKnownStruct } from '@lapse/cel/wellKnown';

type Unpack = (any: Any) => Message | undefined;

const PRIMITIVES: readonly CelType[] = [DYN, BOOL, INT, UINT, DOUBLE, STRING, BYTES];
const WELL_KNOWN: readonly CelType[] = [DYN, ANY, TIMESTAMP, DURATION];

export function typeFromSpec(t: Type): CelType {
  const k = t.typeKind;
  switch (k.case) {
    case 'primitive':
      return PRIMITIVES[k.value]!;
    case 'wellKnown':
      return WELL_KNOWN[k.value]!;
    case 'wrapper':
      return nullable(PRIMITIVES[k.value]!);
    case 'null':
      return NULL;
    case 'listType':
      return listOf(typeFromSpec(k.value.elemType!));
    case 'mapType':
      return mapOf(typeFromSpec(k.value.keyType!), typeFromSpec(k.value.valueType!));
    case 'messageType':
      return wellKnownStruct(k.value) ?? structOf(k.value);
    case 'typeParam':
      return param(k.value);
    case 'type':
      return k.value.typeKind.case === undefined ? TYPE : typeOf(typeFromSpec(k.value));
    case 'abstractType':
      return opaque(k.value.name, ...k.value.parameterTypes.map(typeFromSpec));
    case 'error':
      return ERROR;
    default:
      return DYN;
  }
}

export function fromSpec(v: SpecValue, unpack: Unpack): Value {
  const k = v.kind;
  switch (k.case) {
    case 'boolValue':
    case 'stringValue':
    case 'bytesValue':
      return k.value;
    case 'int64Value':
      return toInt(k.value) as Value;
    case 'uint64Value':
      return new Uint(k.value);
    case 'doubleValue':
      return new Double(k.value);
    case 'listValue':
      return k.value.values.map((e) => fromSpec(e, unpack));
    case 'mapValue': {
      const map = new Map<CelKey, readonly [Value, Value]>();
      for (const e of k.value.entries) {
        const key = fromSpec(e.key!, unpack);
        map.set(canonicalKey(key)!, [key, fromSpec(e.value!, unpack)]);
      }
      return new CelMap(map);
    }
    case 'objectValue':
      return fromMessage(unpack(k.value));
    case 'typeValue':
      return new TypeValue(structOf(k.value));
    default:
      return null;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the shapes of messages differ by their type name
type Fields = Record<string, any>;

function fromMessage(m: Message | undefined): Value {
  if (m === undefined) return null;
  const fields = m as Fields;
  const name = m.$typeName;
  if (name === 'google.protobuf.Timestamp') return new Timestamp(Number(fields.seconds), fields.nanos);
  if (name === 'google.protobuf.Duration') {
    const nanos = BigInt(fields.seconds) * 1_000_000_000n + BigInt(fields.nanos);
    const seconds = nanos >= 0n ? nanos / 1_000_000_000n : (nanos - 999_999_999n) / 1_000_000_000n;
    return new Duration(Number(seconds), Number(nanos - seconds * 1_000_000_000n));
  }
  if (/UInt(32|64)Value/.test(name)) return new Uint(BigInt(fields.value));
  if (/Int(32|64)Value/.test(name)) return toInt(BigInt(fields.value)) as Value;
  if (/(Double|Float)Value/.test(name)) return new Double(fields.value);
  if (/(Bool|String|Bytes)Value/.test(name)) return fields.value;
  return fromJsonMessage(name, fields);
}

function fromJsonMessage(name: string, fields: Fields): Value {
  if (name === 'google.protobuf.Struct') {
    return Object.fromEntries(Object.entries(fields.fields as Fields).map(([k, v]) => [k, fromMessage(v)]));
  }
  if (name === 'google.protobuf.ListValue') return (fields.values as Message[]).map(fromMessage);
  if (name !== 'google.protobuf.Value') throw new Error(`no such message here: ${name}`);
  const { case: kind, value } = fields.kind;
  if (kind === 'numberValue') return new Double(value);
  if (kind === 'structValue' || kind === 'listValue') return fromMessage(value);
  return kind === 'nullValue' || kind === undefined ? null : value;
}

/** A value with its types, as plain JSON; maps sorted, so that equal values have equal texts. */
export function encode(v: Value): unknown {
  switch (typeof v) {
    case 'boolean':
      return { bool: v };
    case 'number':
    case 'bigint':
      return { int: String(v) };
    case 'string':
      return { string: v };
  }
  if (v === null) return { null: true };
  if (Array.isArray(v)) return { list: v.map(encode) };
  if (v instanceof Uint8Array) return { bytes: Buffer.from(v).toString('base64') };
  if (v instanceof CelMap) return encodeEntries([...v.celEntries.values()]);
  if (isPlainMap(v)) return encodeEntries(Object.entries(v).map(([k, e]) => [k, e ?? null] as const));
  return encodeObject(v);
}

function encodeObject(v: object): unknown {
  if (v instanceof Uint) return { uint: String(v.uintBits) };
  if (v instanceof Double) return { double: encodeDouble(v.float64) };
  if (v instanceof Timestamp)
    return { timestamp: `${v.epochSeconds}.${String(v.subNanos).padStart(9, '0')}` };
  if (v instanceof Duration) return { duration: String(durationNanos(v)) };
  if (v instanceof TypeValue) return { type: v.typeValue.name };
  if (v instanceof Optional) return { optional: v.heldValue === undefined ? null : encode(v.heldValue) };
  return { opaque: v instanceof Opaque ? v.opaqueType().name : 'unknown' };
}

function encodeEntries(entries: (readonly [Value, Value])[]): unknown {
  const encoded = entries.map(([k, v]) => [encode(k), encode(v)] as const);
  return { map: encoded.sort(([a], [b]) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) };
}

export function encodeDouble(d: number): string {
  if (Number.isNaN(d)) return 'NaN';
  if (Object.is(d, -0)) return '-0';
  return Number.isFinite(d) ? String(d) : d > 0 ? '+Inf' : '-Inf';
}
