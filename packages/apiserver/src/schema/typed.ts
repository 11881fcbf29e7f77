// Emulates the Go structs of built-in kinds with the generated table: converts a JSON body to the JSON that the API
// server would encode. Drops and reports unknown fields, handles null and empty values by Go's tags, and
// canonicalizes times and quantities. Type errors have the messages of encoding/json. Each struct is compiled once.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import type { BuiltinTable } from './builtinTable.ts';
import { DecodeError } from './decodeError.ts';
import { DecodeState } from './typedState.ts';
import { StructCompiler } from './typedStruct.ts';

export { DecodeError } from './decodeError.ts';

export interface DecodedObject {
  value: JsonObject;
  /** Paths of unknown fields: `spec.containers[0].colour`. */
  unknown: string[];
  /** All strict decoding errors, in the order of the text: `unknown field "a"`, `duplicate field "b"`. */
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
 * `notes` come from parseJson and provide two things: errors quote the original text of numbers (and `1.0` is no
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
 * Converts the result of a strategic merge patch to its struct, with the errors of the converter that upstream uses
 * here instead of JSON (`unrecognized type: int32`). Throws DecodeError.
 */
export function convertTyped(table: BuiltinTable, typeName: string, json: Json): DecodedObject {
  const state = new DecodeState(undefined, true);
  const value = compilerOf(table).structOf(typeName).decode(json, state) as JsonObject;
  return { value, unknown: state.unknown, strict: state.strict };
}

/** The zero value of a struct as encoded by Go: `{"metadata":{},"spec":{"containers":null},"status":{}}`. */
export const zeroTyped = (table: BuiltinTable, typeName: string): JsonObject =>
  compilerOf(table).structOf(typeName).zero();
