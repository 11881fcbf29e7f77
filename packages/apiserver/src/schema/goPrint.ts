// Prints values like Go's fmt with %v: `map[a:1 b:[x y] c:<nil>]`. Used in error messages.

import { isObject, type Json } from '@lapse/kube/api/json';

/** Byte order, in which Go sorts printed map keys. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export function goPrint(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const entries = Object.keys(value).sort(byBytes);
  return `map[${entries.map((key) => `${key}:${goPrint(value[key])}`).join(' ')}]`;
}

/** %s of a value that may not be a string. */
export function goPrintText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '%!s(<nil>)';
  return `%!s(${goTypeOf(value)}=${goPrint(value)})`;
}

/** The Go type of a JSON value that is decoded into an `interface{}`. */
export function goTypeOf(value: Json | undefined): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'int64' : 'float64';
    case 'bigint':
      return 'int64';
    default:
      return 'map[string]interface {}';
  }
}
