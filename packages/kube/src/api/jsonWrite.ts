// Value → JSON text. Go's encoder writes <, > and & as \u003c…; no JSON reader can tell, so this one does not.

import type { Json } from './json.ts';

declare global {
  interface JSON {
    /** ECMAScript proposal that Node 24 has and TypeScript's library does not know yet. */
    rawJSON(text: string): unknown;
  }
}

/** Lets integers beyond 2^53 through as digits. */
const exactIntegers = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(value.toString()) : value;

/** Undefined properties are left out. Nearly all objects hold no bigint, and then this is JSON.stringify. */
export function writeJson(value: Json | object | undefined): string {
  if (value === undefined) return 'null';
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, exactIntegers);
  }
}
