// Writes JSON. Unlike Go's encoder it does not escape <, > and &; JSON parsers see no difference.

import type { Json } from './json.ts';

declare global {
  interface JSON {
    /** ECMAScript proposal that Node 24 implements and TypeScript's library does not declare yet. */
    rawJSON(text: string): unknown;
  }
}

/** Writes integers beyond 2^53 as digits. */
const exactIntegers = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value;

/** Omits undefined properties. Almost no object contains a bigint; then this is plain JSON.stringify. */
export function writeJson(value: Json | object | undefined): string {
  if (value === undefined) return 'null';
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, exactIntegers);
  }
}
