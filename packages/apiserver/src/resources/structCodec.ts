// The codec of a kind that is a Go struct, based on the table of built-in types.

import type { JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { applyDefaults } from '#schema/defaults';
import { decodeMessage } from '#schema/protobuf';
import { convertTyped, decodeTyped } from '#schema/typed';
import { builtinTable, defaultsTable } from '../data/tables.ts';
import { withGvk } from '../decode/decode.ts';
import type { Codec, Decoded, Strategy } from './resource.ts';

/** Decodes into the Go struct and back: drops unknown fields, omits empty ones, and applies defaults. */
export function structCodec(
  gvk: { group: string; version: string; kind: string },
  structName: string,
  strategy: Strategy,
): Codec {
  const finish = (value: JsonObject, unknown: readonly string[]): Decoded => {
    const object = withGvk(asObject(value), gvk);
    object.metadata ??= {};
    // The own defaults of the kind come first: some depend on fields that the table would fill in.
    strategy.applyDefaults?.(object);
    applyDefaults(defaultsTable(), builtinTable(), structName, asJson(object));
    return { object, problems: unknown.map((path) => `unknown field "${path}"`) };
  };
  return {
    decode(value: JsonObject, notes?: JsonNotes): Decoded {
      const typed = decodeTyped(builtinTable(), structName, value, notes);
      return finish(typed.value, typed.unknown);
    },
    convert(value: JsonObject): Decoded {
      const typed = convertTyped(builtinTable(), structName, value);
      return finish(typed.value, typed.unknown);
    },
    decodeProtobuf: (message) => finish(decodeMessage(builtinTable(), structName, message), []),
    verbatim: () => true,
    show: (stored) => stored.object,
    toStorage: (object: KubeObject) => object,
  };
}
