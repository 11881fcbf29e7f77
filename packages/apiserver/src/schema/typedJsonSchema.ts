// JSONSchemaPropsOrArray, OrBool and OrStringArray: fields of JSON schemas that contain a schema or a simpler value.
// In Go they have their own decoders, which are not strict.

import { isObject, type Json } from '@lapse/kube/api/json';
import type { WireForm } from './builtinTable.ts';
import { DecodeError } from './decodeError.ts';
import type { Decoder } from './typedScalars.ts';
import { DecodeState } from './typedState.ts';

type SchemaDecoder = (value: Json, state: DecodeState) => Json;

export function jsonSchemaUnion(form: WireForm, schema: SchemaDecoder): Decoder {
  return (value, state) => {
    if (state.converting) return decodeApart(form, value, schema);
    const { selfDecodingIn, firstError } = state;
    state.selfDecodingIn = selfDecodingIn ?? state.owner;
    state.firstError = undefined;
    const decoded = decodeUnion(form, value, (v) => schema(v, state));
    // The inner decoder has finished, so its saved error is fatal for the outer one.
    if (state.firstError !== undefined) throw new DecodeError(state.firstError);
    state.selfDecodingIn = selfDecodingIn;
    state.firstError = firstError;
    return decoded;
  };
}

/** Decoded separately from JSON, even where all other values are converted. */
function decodeApart(form: WireForm, value: Json, schema: SchemaDecoder): Json {
  const own = new DecodeState(undefined);
  const decoded = decodeUnion(form, value, (v) => schema(v, own));
  if (own.firstError !== undefined) throw new DecodeError(own.firstError);
  return decoded;
}

function decodeUnion(form: WireForm, value: Json, schema: (value: Json) => Json): Json {
  if (isObject(value)) return schema(value);
  if (form === 'orBool') {
    if (typeof value === 'boolean') return value;
    throw new DecodeError('boolean or JSON schema expected');
  }
  // All other values set neither side, and an empty union is written as null.
  if (!Array.isArray(value) || value.length === 0) return null;
  return form === 'orArray' ? value.map((v) => schema(v ?? {})) : value;
}
