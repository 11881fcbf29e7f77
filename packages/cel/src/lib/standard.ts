// The standard library, included in every environment: operators, conversions, strings, sizes, time.

import {
  convertToBool,
  convertToBytes,
  convertToDouble,
  convertToDuration,
  convertToInt,
  convertToString,
  convertToTimestamp,
  convertToUint,
} from '../convert.ts';
import {
  type CallCost,
  type FunctionDecl,
  fn,
  type Implementation,
  type Library,
  member,
  overload,
} from '../declarations.ts';
import { typeConstant } from '../environment.ts';
import type { Frame } from '../frame.ts';
import { STANDARD_MACROS } from '../macros.ts';
import { matches } from '../patterns.ts';
import { sizeOf, traversal } from '../sizes.ts';
import { codePointLength } from '../text.ts';
import { durationNanos, type TimePart, timePart } from '../time.ts';
import { typeOfValue } from '../typeOfValue.ts';
import {
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
  param,
  STRING,
  TIMESTAMP,
  TYPE,
  typeOf,
  UINT,
} from '../types.ts';
import { Duration, fail, isMap, Timestamp, TypeValue, type Value } from '../values.ts';
import { zoneOffset } from '../zones.ts';
import { OPERATORS } from './operators.ts';

const A = param('A');
const B = param('B');

const asString = (v: Value): string => (typeof v === 'string' ? v : '');
const readOnce: CallCost = (a) => traversal(sizeOf(a));

/** A conversion function with one body for all its overloads. */
function conversion(
  to: CelType,
  name: string,
  call: Implementation,
  from: readonly [string, CelType, CallCost?][],
): FunctionDecl {
  return fn(name, ...from.map(([id, type, cost]) => overload(id, [type], to, call, { cost })));
}

const convertText = (v: Value, f: Frame): Value | undefined => {
  if (v instanceof Uint8Array) f.work(30 + v.length * 0.2);
  else if (typeof v === 'object') f.work(40);
  return convertToString(v);
};

const convertBinary = (v: Value, f: Frame): Value | undefined => {
  if (typeof v === 'string') f.work(30 + v.length * 0.2);
  return convertToBytes(v);
};

const CONVERSIONS: readonly FunctionDecl[] = [
  fn(
    'type',
    overload('type', [A], typeOf(A), (v: Value) => new TypeValue(typeOfValue(v))),
  ),
  conversion(BOOL, 'bool', convertToBool, [
    ['bool_to_bool', BOOL],
    ['string_to_bool', STRING],
  ]),
  conversion(BYTES, 'bytes', convertBinary, [
    ['bytes_to_bytes', BYTES],
    ['string_to_bytes', STRING, readOnce],
  ]),
  conversion(DOUBLE, 'double', convertToDouble, [
    ['double_to_double', DOUBLE],
    ['int64_to_double', INT],
    ['string_to_double', STRING],
    ['uint64_to_double', UINT],
  ]),
  conversion(DURATION, 'duration', convertToDuration, [
    ['duration_to_duration', DURATION],
    ['int64_to_duration', INT],
    ['string_to_duration', STRING],
  ]),
  fn(
    'dyn',
    overload('to_dyn', [A], DYN, (v: Value) => v),
  ),
  conversion(INT, 'int', convertToInt, [
    ['int64_to_int64', INT],
    ['double_to_int64', DOUBLE],
    ['duration_to_int64', DURATION],
    ['string_to_int64', STRING],
    ['timestamp_to_int64', TIMESTAMP],
    ['uint64_to_int64', UINT],
  ]),
  conversion(STRING, 'string', convertText, [
    ['string_to_string', STRING],
    ['bool_to_string', BOOL],
    ['bytes_to_string', BYTES, readOnce],
    ['double_to_string', DOUBLE],
    ['duration_to_string', DURATION],
    ['int64_to_string', INT],
    ['timestamp_to_string', TIMESTAMP],
    ['uint64_to_string', UINT],
  ]),
  conversion(TIMESTAMP, 'timestamp', convertToTimestamp, [
    ['timestamp_to_timestamp', TIMESTAMP],
    ['int64_to_timestamp', INT],
    ['string_to_timestamp', STRING],
  ]),
  conversion(UINT, 'uint', convertToUint, [
    ['uint64_to_uint64', UINT],
    ['double_to_uint64', DOUBLE],
    ['int64_to_uint64', INT],
    ['string_to_uint64', STRING],
  ]),
];

function size(v: Value, f: Frame): Value | undefined {
  if (typeof v === 'string') {
    f.work(v.length * 0.1);
    return codePointLength(v);
  }
  return Array.isArray(v) || v instanceof Uint8Array || isMap(v) ? sizeOf(v) : undefined;
}

const MAP_AB = mapOf(A, B);

const SIZE = fn(
  'size',
  overload('size_bytes', [BYTES], INT, size),
  overload('size_list', [listOf(A)], INT, size),
  overload('size_map', [MAP_AB], INT, size),
  overload('size_string', [STRING], INT, size),
  member('bytes_size', [BYTES], INT, size),
  member('list_size', [listOf(A)], INT, size),
  member('map_size', [MAP_AB], INT, size),
  member('string_size', [STRING], INT, size),
);

/** A predicate on two strings. */
const stringTest = (test: (s: string, t: string) => boolean) => (a: Value, b: Value) =>
  typeof a === 'string' && typeof b === 'string' ? test(a, b) : undefined;

const containsCost: CallCost = (a, b) => readOnce(a, b, null) * readOnce(b, a, null);

/** 1 plus the text size times a quarter of the pattern size: cel-go's estimate for a linear matcher. */
export const matchCost: CallCost = (a, b) => traversal(sizeOf(a) + 1) * Math.ceil(sizeOf(b) * 0.25);

const STRINGS: readonly FunctionDecl[] = [
  fn(
    'contains',
    member(
      'contains_string',
      [STRING, STRING],
      BOOL,
      (a: Value, b: Value, f: Frame) => {
        if (typeof a !== 'string' || typeof b !== 'string') return undefined;
        f.work((a.length + b.length) * 0.1);
        return a.includes(b);
      },
      { cost: containsCost },
    ),
  ),
  fn(
    'endsWith',
    member(
      'ends_with_string',
      [STRING, STRING],
      BOOL,
      stringTest((s, t) => s.endsWith(t)),
      { cost: readOnce },
    ),
  ),
  fn(
    'startsWith',
    member(
      'starts_with_string',
      [STRING, STRING],
      BOOL,
      stringTest((s, t) => s.startsWith(t)),
      { cost: readOnce },
    ),
  ),
  fn(
    'matches',
    overload('matches', [STRING, STRING], BOOL, matches),
    member('matches_string', [STRING, STRING], BOOL, matches, { cost: matchCost }),
  ),
];

const inUtc = (part: TimePart) => (t: Value) => (t instanceof Timestamp ? timePart(t, part, 0) : undefined);

// A lookup in the engine's time zone tables takes some microseconds.
const ZONE_WORK = 450;

const inZone = (part: TimePart) => (t: Value, zone: Value, f: Frame) => {
  if (!(t instanceof Timestamp) || typeof zone !== 'string') return undefined;
  f.work(ZONE_WORK);
  const offset = zoneOffset(asString(zone), t);
  if (offset !== undefined) return timePart(t, part, offset);
  return fail(LOOKS_LIKE_A_FILE.test(zone) ? 'time: invalid location name' : `unknown time zone ${zone}`);
};

const LOOKS_LIKE_A_FILE = /\.\.|^[/\\]/;

/** The milliseconds within a duration's last second. */
const millisecondsOf = (d: Value) =>
  d instanceof Duration ? Number((durationNanos(d) / 1_000_000n) % 1000n) : undefined;

/** Whole units of `nanos` nanoseconds in a duration, truncated towards zero. */
const unitsOf = (nanos: bigint) => (d: Value) =>
  d instanceof Duration ? Number(durationNanos(d) / nanos) : undefined;

function accessor(part: TimePart, id: string, zoneId = `${id}_with_tz`): FunctionDecl {
  return fn(
    part,
    member(id, [TIMESTAMP], INT, inUtc(part)),
    member(zoneId, [TIMESTAMP, STRING], INT, inZone(part)),
  );
}

const ofDuration = (part: TimePart, id: string, nanos: bigint): FunctionDecl =>
  fn(part, member(id, [DURATION], INT, unitsOf(nanos)));

const TIME: readonly FunctionDecl[] = [
  accessor('getFullYear', 'timestamp_to_year'),
  accessor('getMonth', 'timestamp_to_month'),
  accessor('getDayOfYear', 'timestamp_to_day_of_year'),
  accessor('getDayOfMonth', 'timestamp_to_day_of_month'),
  accessor('getDate', 'timestamp_to_day_of_month_1_based'),
  accessor('getDayOfWeek', 'timestamp_to_day_of_week'),
  accessor('getHours', 'timestamp_to_hours'),
  ofDuration('getHours', 'duration_to_hours', 3_600_000_000_000n),
  accessor('getMinutes', 'timestamp_to_minutes'),
  ofDuration('getMinutes', 'duration_to_minutes', 60_000_000_000n),
  accessor('getSeconds', 'timestamp_to_seconds', 'timestamp_to_seconds_tz'),
  ofDuration('getSeconds', 'duration_to_seconds', 1_000_000_000n),
  accessor('getMilliseconds', 'timestamp_to_milliseconds'),
  fn('getMilliseconds', member('duration_to_milliseconds', [DURATION], INT, millisecondsOf)),
];

/**
 * Differences of cel-go, and therefore Kubernetes, from the language: getMilliseconds of a duration returns all its
 * milliseconds. Must come before STANDARD.
 */
export const CEL_GO_DIFFERENCES: Library = {
  name: 'cel-go differences',
  functions: [ofDuration('getMilliseconds', 'duration_to_milliseconds', 1_000_000n)],
};

export const STANDARD: Library = {
  name: 'standard',
  functions: [...OPERATORS, ...CONVERSIONS, SIZE, ...STRINGS, ...TIME],
  macros: STANDARD_MACROS,
  constants: [
    typeConstant('bool', BOOL),
    typeConstant('bytes', BYTES),
    typeConstant('double', DOUBLE),
    typeConstant('google.protobuf.Duration', DURATION),
    typeConstant('google.protobuf.Timestamp', TIMESTAMP),
    typeConstant('int', INT),
    typeConstant('list', listOf(DYN)),
    typeConstant('map', mapOf(DYN, DYN)),
    typeConstant('null_type', NULL),
    typeConstant('string', STRING),
    typeConstant('type', TYPE),
    typeConstant('uint', UINT),
  ],
};
