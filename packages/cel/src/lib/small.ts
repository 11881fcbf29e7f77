// Small extensions: encoders, two-variable loops, bindings, blocks, well-known message types.

import { fn, type Library, overload } from '../declarations.ts';
import { typeConstant } from '../environment.ts';
import type { Frame } from '../frame.ts';
import { BINDING_MACROS, BLOCK_MACROS, TWO_VARIABLE_MACROS } from '../macrosMore.ts';
import { BYTES, NULL, STRING } from '../types.ts';
import { fail, type Value } from '../values.ts';
import { WELL_KNOWN_NAMES, wellKnownStruct } from '../wellKnown.ts';

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Accepts the standard alphabet, with or without padding. */
function decode(text: Value, f: Frame): Value | undefined {
  if (typeof text !== 'string') return undefined;
  f.work(70 + text.length * 0.2);
  if (!BASE64.test(text)) return fail('illegal base64 data');
  return Uint8Array.from(Buffer.from(text, 'base64'));
}

function encode(bytes: Value, f: Frame): Value | undefined {
  if (!(bytes instanceof Uint8Array)) return undefined;
  f.work(70 + bytes.length * 0.2);
  return Buffer.from(bytes).toString('base64');
}

export const ENCODERS: Library = {
  name: 'encoders',
  functions: [
    fn('base64.decode', overload('base64_decode_string', [STRING], BYTES, decode)),
    fn('base64.encode', overload('base64_encode_bytes', [BYTES], STRING, encode)),
  ],
};

export const TWO_VARIABLES: Library = { name: 'two-variable comprehensions', macros: TWO_VARIABLE_MACROS };
export const BINDINGS: Library = { name: 'bindings', macros: BINDING_MACROS };
export const BLOCK: Library = { name: 'block', macros: BLOCK_MACROS };

export const WELL_KNOWN_TYPES: Library = {
  name: 'well-known types',
  constants: [
    ...WELL_KNOWN_NAMES.map((name) => typeConstant(name, wellKnownStruct(name)!)),
    { name: 'google.protobuf.NullValue.NULL_VALUE', type: NULL, value: null },
  ],
};
