// Conversion after strategic merge patches: upstream converts the patched map to the struct without JSON. That
// converter has other errors, accepts whole floats and truncates integers that are too large.

import type { Json } from '@lapse/kube/api/json';

/** Go's reflect.Kind of the target. */
export type GoKind =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'float64'
  | 'slice'
  | 'map'
  | 'struct';

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'slice';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int64';
    case 'number':
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'int64' : 'float64';
    default:
      return 'map';
  }
}

/** Why the value cannot be converted. `goType`: the type of the target, `v1.PodPhase`. */
export function conversionProblem(value: Json, goType: string, kind: GoKind): string {
  const from = kindOf(value);
  if (kind === 'slice' || kind === 'map') return `cannot restore ${kind} from ${from}`;
  if (kind === 'struct') return `cannot restore struct from: ${from}`;
  // Go could convert a number to a character, or truncate a fraction, but rejects both.
  const convertible = from === 'int64' ? kind === 'string' : from === 'float64' && /int/.test(kind);
  return convertible ? `cannot convert ${from} to ${goType}` : `unrecognized type: ${kind}`;
}

const LARGEST = 2 ** 63;

/**
 * Converts integers like Go: modulo the size of the type. Floats outside all integer ranges become the smallest
 * integer.
 */
export function cutInteger(value: number | bigint, kind: GoKind): number | bigint {
  const bits = kind.endsWith('32') ? 32 : 64;
  const whole = Math.abs(Number(value)) > LARGEST ? -BigInt(LARGEST) : BigInt(value);
  const cut = kind.startsWith('u') ? BigInt.asUintN(bits, whole) : BigInt.asIntN(bits, whole);
  const number = Number(cut);
  return Number.isSafeInteger(number) ? number : cut;
}
