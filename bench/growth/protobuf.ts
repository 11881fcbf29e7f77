// Encodes objects of built-in kinds as protobuf, from the table of their Go structs, as a real API server answers
// clients that request it. Only the types that a Job consists of.

import { builtins, typeOf } from '@lapse/apiserver/schema/builtinFixture';
import type { BuiltinField } from '@lapse/apiserver/schema/builtinTable';
import type { JsonObject } from '@lapse/kube/api/json';
import { envelope, frame, type Message, type Value } from '@lapse/kube/client/protobuf/encode.testkit';

interface Typed {
  readonly apiVersion: string;
  readonly kind: string;
}

function fieldValue(type: string, value: unknown): Value {
  switch (type) {
    case 'string':
      return String(value);
    case 'int32':
    case 'int64':
    case 'bool':
      return Number(value);
    case 'Time':
      return [[1, Math.floor(Date.parse(String(value)) / 1000)]];
    case 'Quantity':
      return [[1, String(value)]];
    case 'FieldsV1':
      return [[1, JSON.stringify(value)]];
    default:
      return structOf(type, value as JsonObject);
  }
}

function valuesOf({ t, list, map }: BuiltinField, value: unknown): Value[] {
  if (map)
    return Object.entries(value as JsonObject).map(([key, entry]) => [
      [1, key],
      [2, fieldValue(t, entry)],
    ]);
  return (list ? (value as unknown[]) : [value]).map((one) => fieldValue(t, one));
}

function structOf(type: string, value: JsonObject): Message {
  const { fields } = builtins.types[type] ?? {};
  if (fields === undefined) throw new Error(`no struct ${type}`);
  return Object.entries(value).flatMap(([name, entry]) => {
    const field = fields[name];
    if (field === undefined || entry === undefined) return [];
    return valuesOf(field, entry).map((one) => [field.n!, one] as const);
  });
}

const messageOf = ({ apiVersion, kind, ...rest }: Typed): Message =>
  structOf(typeOf(`${apiVersion}/${kind}`), rest as JsonObject);

export interface List extends Typed {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Typed[];
}

export const encodeList = ({ apiVersion, kind, metadata, items }: List): Buffer =>
  envelope(apiVersion, kind, [
    [
      1,
      [
        [2, metadata.resourceVersion],
        [3, metadata.continue ?? ''],
      ],
    ],
    ...items.map((item) => [2, messageOf(item)] as const),
  ]);

/** A watch event, prefixed with its length. */
export const encodeEvent = (type: string, object: Typed): Buffer =>
  frame(type, envelope(object.apiVersion, object.kind, messageOf(object)));
