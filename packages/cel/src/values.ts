// The values of CEL. Most types are plain JavaScript values, so that bound JSON needs no conversion:
//   bool boolean · int number (a safe integer) or bigint (beyond) · string string · bytes Uint8Array · null null
//   list array · map object with own keys (only string keys) or CelMap
// All others are instances of CelObject. Errors are values too: `||`, `&&` and the quantifiers examine them, every
// other operation returns the first one it encounters.
// The fields of CelObjects have names that objects in a cluster do not have: see RESERVED_KEYS in select.ts.

import type { CelType } from './types.ts';

export abstract class CelObject {
  /** For the compiler only: makes the type nominal. */
  declare protected readonly celObjectBrand: true;
}

export type CelKey = string | number | bigint | boolean;

export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Value[]
  | { readonly [key: string]: Value | undefined }
  | CelObject;

export class Uint extends CelObject {
  readonly uintBits: bigint;
  constructor(bits: bigint) {
    super();
    this.uintBits = bits;
  }
}

export class Double extends CelObject {
  readonly float64: number;
  constructor(float64: number) {
    super();
    this.float64 = float64;
  }
}

/** A point in time: seconds since 1970 (rounded down) plus nanoseconds (0 to 999,999,999). */
export class Timestamp extends CelObject {
  readonly epochSeconds: number;
  readonly subNanos: number;
  constructor(epochSeconds: number, subNanos: number) {
    super();
    this.epochSeconds = epochSeconds;
    this.subNanos = subNanos;
  }
}

/** A duration: seconds (rounded down) plus nanoseconds (0 to 999,999,999). */
export class Duration extends CelObject {
  readonly wholeSeconds: number;
  readonly subNanos: number;
  constructor(wholeSeconds: number, subNanos: number) {
    super();
    this.wholeSeconds = wholeSeconds;
    this.subNanos = subNanos;
  }
}

/** A map with keys of any key type. Numeric keys are found by value, whatever their numeric type. */
export class CelMap extends CelObject {
  readonly celEntries: Map<CelKey, readonly [key: Value, value: Value]>;
  constructor(entries: Map<CelKey, readonly [Value, Value]> = new Map()) {
    super();
    this.celEntries = entries;
  }
}

export class TypeValue extends CelObject {
  readonly typeValue: CelType;
  constructor(type: CelType) {
    super();
    this.typeValue = type;
  }
}

export class Optional extends CelObject {
  /** Undefined for none. */
  readonly heldValue: Value | undefined;
  constructor(held: Value | undefined) {
    super();
    this.heldValue = held;
  }
}

export const NONE = new Optional(undefined);

/**
 * A value of a library type (quantity, URL, IP …). The library defines its equality. All member names start with
 * `opaque`, to distinguish them from fields of objects.
 */
export abstract class Opaque extends CelObject {
  abstract opaqueType(): CelType;
  abstract opaqueEquals(other: Value): boolean;
  /** The size in the cost model; 1 for most types. */
  opaqueSize(): number {
    return 1;
  }
}

/** The error result of an operation. `offset` is the position of the operation in the source. */
export class Failure extends CelObject {
  readonly errorMessage: string;
  errorOffset: number;
  constructor(message: string, offset = -1) {
    super();
    this.errorMessage = message;
    this.errorOffset = offset;
  }
}

export const isError = (v: unknown): v is Failure => v instanceof Failure;
export const fail = (message: string): Failure => new Failure(message);
export const noSuchOverload = (): Failure => new Failure('no such overload');

export type PlainMap = { readonly [key: string]: Value | undefined };

/** Whether an object represents a map with string keys. */
export function isPlainMap(v: Value): v is PlainMap {
  return (
    typeof v === 'object' &&
    v !== null &&
    !Array.isArray(v) &&
    !(v instanceof CelObject) &&
    !(v instanceof Uint8Array)
  );
}

export const isMap = (v: Value): v is PlainMap | CelMap => v instanceof CelMap || isPlainMap(v);
export const isInt = (v: Value): v is number | bigint => typeof v === 'number' || typeof v === 'bigint';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Converts a bound value to its internal form. Integral numbers are ints, others doubles; only numbers change. */
export function adapt(v: Value): Value {
  switch (typeof v) {
    case 'number':
      return Number.isSafeInteger(v) ? v + 0 : adaptNumber(v);
    case 'bigint':
      return adaptBigint(v);
    case 'function':
    case 'symbol':
      return fail(`unsupported value of type ${typeof v}`);
    case 'undefined':
      return null;
    default:
      return v;
  }
}

function adaptNumber(v: number): Value {
  // Integral but beyond 2^53: an int64 that JSON.parse rounded, unless it exceeds int64.
  if (Number.isInteger(v) && Math.abs(v) < 2 ** 63) return BigInt(v);
  return new Double(v);
}

function adaptBigint(v: bigint): Value {
  if (v < INT64_MIN || v > INT64_MAX) return fail('integer overflow');
  const n = Number(v);
  return Number.isSafeInteger(n) ? n : v;
}
