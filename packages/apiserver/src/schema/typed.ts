// The Go structs of built-in kinds, emulated from the generated table: a JSON body becomes what the API server would
// encode again. Unknown fields are dropped and named, null and empty values follow Go's tags, times and quantities are
// canonical, and a wrong type is refused in encoding/json's words. Each struct is compiled into closures once.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import type { BuiltinTable } from './builtinTable.ts';
import { DecodeError } from './decodeError.ts';
import { DecodeState } from './typedState.ts';
import { StructCompiler } from './typedStruct.ts';

export { DecodeError } from './decodeError.ts';

export interface DecodedObject {
  value: JsonObject;
  /** Paths of fields the struct does not have: `spec.containers[0].colour`. */
  unknown: string[];
  /** Everything strict decoding complains about, in the order of the text: `unknown field "a"`, `duplicate field "b"`. */
  strict: string[];
}

const compilers = new WeakMap<BuiltinTable, StructCompiler>();

function compilerOf(table: BuiltinTable): StructCompiler {
  let compiler = compilers.get(table);
  if (compiler === undefined) {
    compiler = new StructCompiler(table);
    compilers.set(table, compiler);
  }
  return compiler;
}

/**
 * `notes` come from parseJson and make two things exact: refusals of numbers quote their spelling (and `1.0` is no
 * integer), and duplicate fields are reported. Throws DecodeError.
 */
export function decodeTyped(
  table: BuiltinTable,
  typeName: string,
  json: Json,
  notes?: JsonNotes,
): DecodedObject {
  const state = new DecodeState(notes);
  const value = compilerOf(table).structOf(typeName).decode(json, state) as JsonObject;
  if (state.firstError !== undefined) throw new DecodeError(state.firstError);
  return { value, unknown: state.unknown, strict: state.strict };
}

/**
 * The result of a strategic merge patch as its struct. What it cannot be is refused in the words of the converter that
 * upstream uses here instead of JSON (`unrecognized type: int32`). Throws DecodeError.
 */
export function convertTyped(table: BuiltinTable, typeName: string, json: Json): DecodedObject {
  const state = new DecodeState(undefined, true);
  const value = compilerOf(table).structOf(typeName).decode(json, state) as JsonObject;
  return { value, unknown: state.unknown, strict: state.strict };
}

/** The zero value of a struct as Go encodes it: `{"metadata":{},"spec":{"containers":null},"status":{}}`. */
export const zeroTyped = (table: BuiltinTable, typeName: string): JsonObject =>
  compilerOf(table).structOf(typeName).zero();
