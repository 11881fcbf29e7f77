// Strategic merge patches do not go through JSON again: the patched map is converted into the struct directly, and that
// converter refuses in other words, forgives whole floats and cuts integers that are too large.

import type { Json } from '@lapse/kube/api/json';

/** Go's reflect.Kind of the place a value is for. */
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

/** Why the value cannot be converted. `goType` is the type of the place: `v1.PodPhase`. */
export function conversionProblem(value: Json, goType: string, kind: GoKind): string {
  const from = kindOf(value);
  if (kind === 'slice' || kind === 'map') return `cannot restore ${kind} from ${from}`;
  if (kind === 'struct') return `cannot restore struct from: ${from}`;
  // Go could turn a number into a character, or cut a fraction; it knows, and refuses.
  const convertible = from === 'int64' ? kind === 'string' : from === 'float64' && /int/.test(kind);
  return convertible ? `cannot convert ${from} to ${goType}` : `unrecognized type: ${kind}`;
}

const LARGEST = 2 ** 63;

/** Integers as Go converts them: modulo the size of the type. Floats beyond all integers are the smallest one. */
export function cutInteger(value: number | bigint, kind: GoKind): number | bigint {
  const bits = kind.endsWith('32') ? 32 : 64;
  const whole = Math.abs(Number(value)) > LARGEST ? -BigInt(LARGEST) : BigInt(value);
  const cut = kind.startsWith('u') ? BigInt.asUintN(bits, whole) : BigInt.asIntN(bits, whole);
  const number = Number(cut);
  return Number.isSafeInteger(number) ? number : cut;
}
