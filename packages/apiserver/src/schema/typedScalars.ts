// Scalars and types with their own encoding in the built-in table: converts JSON to the JSON that Go would write. As
// in Go, type errors are saved for plain types and thrown at once for types with UnmarshalJSON.

import { formatGoDuration, parseGoDuration } from '@lapse/base/goDuration';
import type { Json } from '@lapse/kube/api/json';
import { checkBase64 } from './base64.ts';
import type { ScalarType } from './builtinTable.ts';
import { DecodeError } from './decodeError.ts';
import { formatGoTime, isZeroTime, parseGoTime, RFC3339, RFC3339_MICRO } from './goTime.ts';
import { canonicalQuantity } from './quantity.ts';
import { cutInteger, type GoKind } from './typedConvert.ts';
import { type DecodeState, jsonWord } from './typedState.ts';

/** Decodes a non-null value. `holder` and `key` are its container and key, to look up the original text of numbers. */
export type Decoder = (value: Json, state: DecodeState, holder: object, key: string) => Json;

export interface ScalarCodec {
  /** `goType`: the Go type for errors, `int32`, `v1.PodPhase`. */
  decoder(goType: string): Decoder;
  zero: Json;
  /** omitempty never omits Go structs. */
  struct?: true;
}

const string: ScalarCodec = {
  zero: '',
  decoder: (goType) => (value, state) => {
    if (typeof value === 'string') return value;
    state.wrongType(value, goType, 'string');
    return '';
  },
};

const bool: ScalarCodec = {
  zero: false,
  decoder: (goType) => (value, state) => {
    if (typeof value === 'boolean') return value;
    state.wrongType(value, goType, 'bool');
    return false;
  },
};

interface IntegerRange {
  min: bigint;
  max: bigint;
  goType: string;
  kind: GoKind;
}

/** The integer; undefined when a problem was saved. */
function readInteger(
  value: Json,
  [state, holder, key]: [DecodeState, object, string],
  { min, max, goType, kind }: IntegerRange,
): number | bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    state.wrongType(value, goType, kind);
    return undefined;
  }
  if (state.converting && (typeof value === 'bigint' || Number.isInteger(value)))
    return cutInteger(value, kind);
  const spelling = state.spelling(holder, key);
  const fits =
    typeof value === 'bigint'
      ? value >= min && value <= max
      : Number.isInteger(value) && value >= min && value <= max;
  if (fits && spelling === undefined) return value;
  state.wrongType(value, goType, kind, `number ${spelling ?? value}`);
  return undefined;
}

const integer = (kind: GoKind, min: bigint, max: bigint): ScalarCodec => ({
  zero: 0,
  decoder: (goType) => {
    const range = { min, max, goType, kind };
    const low = Number(min);
    const high = Number(max);
    return (value, state, holder, key) => {
      // Fast path: a small integer, written as one.
      if (Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high)
        if (state.spelling(holder, key) === undefined) return value;
      return readInteger(value, [state, holder, key], range) ?? 0;
    };
  },
});

const float64: ScalarCodec = {
  zero: 0,
  decoder: (goType) => (value, state, holder, key) => {
    if (typeof value === 'bigint') return Number(value);
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    const word =
      typeof value === 'number' ? `number ${state.spelling(holder, key) ?? value}` : jsonWord(value);
    state.wrongType(value, goType, 'float64', word);
    return 0;
  },
};

/** Go also reads bytes from a list of numbers; null is a zero. */
function fromNumbers(list: readonly Json[], state: DecodeState): string {
  const odd = list.find((v) => v !== null && !(Number.isInteger(v) && Number(v) >= 0 && Number(v) < 256));
  if (odd !== undefined) {
    const word = typeof odd === 'number' || typeof odd === 'bigint' ? `number ${odd}` : jsonWord(odd);
    state.wrongType([...list], 'uint8', 'slice', word);
    return '';
  }
  return Buffer.from(list.map(Number)).toString('base64');
}

const bytes: ScalarCodec = {
  zero: null,
  decoder: () => (value, state) => {
    if (typeof value === 'string') {
      const result = checkBase64(value);
      if (result.ok) return result.text;
      if (state.converting) throw new DecodeError(`error decoding from json: ${result.problem}`);
      state.saveError(() => result.problem);
      return '';
    }
    if (Array.isArray(value) && !state.converting) return fromNumbers(value, state);
    state.wrongType(value, '[]uint8', 'slice');
    return '';
  },
};

/** Types that parse a JSON string and throw at once for all other values. */
const fromText = (parse: (text: string) => Json, zero: Json): ScalarCodec => ({
  zero,
  struct: true,
  decoder: () => (value, state) => {
    if (typeof value !== 'string') throw new DecodeError(state.typeError(jsonWord(value), 'string'));
    return fatal(() => parse(value));
  },
});

/** Converts parser errors to DecodeErrors. */
export function fatal<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new DecodeError((error as Error).message);
  }
}

const isPlainUtc = (text: string): boolean =>
  /^[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.test(text);

function readTime(layout: typeof RFC3339 | typeof RFC3339_MICRO, text: string): Json {
  const time = parseGoTime(layout, text);
  return isZeroTime(time) ? null : formatGoTime(layout, time);
}

const time = fromText((text) => (isPlainUtc(text) ? text : readTime(RFC3339, text)), null);
const microTime = fromText((text) => readTime(RFC3339_MICRO, text), null);
const duration = fromText((text) => formatGoDuration(parseGoDuration(text)), '0s');

/** A quantity from a JSON string or number; `canonical` is one of the functions of quantity.ts. */
export const quantityDecoder =
  (canonical: (text: string) => string): Decoder =>
  (value, state, holder, key) => {
    if (typeof value === 'string') return fatal(() => canonical(value));
    const number = typeof value === 'number' || typeof value === 'bigint';
    return fatal(() => canonical(number ? (state.spelling(holder, key) ?? String(value)) : 'not a number'));
  };

const quantity: ScalarCodec = { zero: '0', struct: true, decoder: () => quantityDecoder(canonicalQuantity) };

const INT32: IntegerRange = { min: -(2n ** 31n), max: 2n ** 31n - 1n, goType: 'int32', kind: 'int32' };
const intOrString: ScalarCodec = {
  zero: 0,
  struct: true,
  decoder: () => (value, state, holder, key) => {
    if (typeof value === 'string') return value;
    const spelling = state.spelling(holder, key);
    const fits =
      typeof value === 'number' && Number.isInteger(value) && value >= INT32.min && value <= INT32.max;
    if (fits && spelling === undefined) return value;
    const number = typeof value === 'number' || typeof value === 'bigint';
    throw new DecodeError(state.typeError(number ? `number ${spelling ?? value}` : jsonWord(value), 'int32'));
  },
};

/** Kept unchanged: raw bytes in Go. */
const raw: ScalarCodec = { zero: null, struct: true, decoder: () => (value) => value };

export const SCALARS: Record<ScalarType, ScalarCodec> = {
  string,
  bool,
  int32: integer('int32', INT32.min, INT32.max),
  int64: integer('int64', -(2n ** 63n), 2n ** 63n - 1n),
  uint32: integer('uint32', 0n, 2n ** 32n - 1n),
  uint64: integer('uint64', 0n, 2n ** 64n - 1n),
  float64,
  bytes,
  Time: time,
  MicroTime: microTime,
  Duration: duration,
  Quantity: quantity,
  IntOrString: intOrString,
  RawExtension: raw,
  FieldsV1: raw,
  JSON: raw,
};

export const isScalar = (type: string): type is ScalarType => Object.hasOwn(SCALARS, type);
