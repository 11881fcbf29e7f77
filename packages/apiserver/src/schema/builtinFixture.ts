// The generated tables, for tests of this folder.

import { readFileSync } from 'node:fs';
import type { BuiltinTable, DefaultsTable } from './builtinTable.ts';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`./data/${name}`, import.meta.url), 'utf8'));

export const builtins = read('types.json') as BuiltinTable;
export const builtinDefaults = read('defaults.json') as DefaultsTable;
export const typeOf = (kind: string): string => builtins.kinds[kind]!;
