// Values as Go's %v prints them inside error messages: map[a:1 b:[x y]].

import { isObject, type Json } from '#api/json';

export function goPrint(value: Json | undefined): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`;
  if (isObject(value)) {
    const entries = Object.keys(value)
      .sort()
      .map((k) => `${k}:${goPrint(value[k])}`);
    return `map[${entries.join(' ')}]`;
  }
  return String(value);
}
