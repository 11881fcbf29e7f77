// OpenAPI v2 in protobuf, the only form that Go clients accept: a table of messages by field, and a writer for it.
// Keywords that are not in the table are omitted, except extensions (`x-…`).

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';

type Write = (value: Json) => Uint8Array | undefined;
interface Field {
  readonly number: number;
  /** The bytes of a length-delimited field; undefined when it is absent. */
  readonly write: Write;
  readonly wire: 0 | 1 | 2;
  readonly repeated: boolean;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

/** Encodes a non-negative integer. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function entry(number: number, wire: number, bytes: Uint8Array): Uint8Array {
  const head = varint((number << 3) | wire);
  return wire === BYTES ? Buffer.concat([head, varint(bytes.length), bytes]) : Buffer.concat([head, bytes]);
}

const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');

const text = (number: number): Field => ({
  number,
  wire: BYTES,
  repeated: false,
  write: (value) => (typeof value === 'string' && value !== '' ? utf8(value) : undefined),
});
const truth = (number: number): Field => ({
  number,
  wire: VARINT,
  repeated: false,
  write: (value) => (value === true ? varint(1) : undefined),
});
const whole = (number: number): Field => ({
  number,
  wire: VARINT,
  repeated: false,
  write: (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? varint(Number(value)) : undefined),
});
const float = (number: number): Field => ({
  number,
  wire: FIXED64,
  repeated: false,
  write: (value) => {
    if (typeof value !== 'number') return undefined;
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return bytes;
  },
});
const nested = (number: number, write: Write): Field => ({ number, wire: BYTES, repeated: false, write });
const each = (field: Field): Field => ({ ...field, repeated: true });

/** The format defines this field as YAML; JSON is YAML. */
const anything: Write = (value) => entry(2, BYTES, utf8(writeJson(value)));

/** All entries of a map, with their names. */
const named =
  (number: number, write: Write): Write =>
  (map) =>
    Buffer.concat(entriesOf(map).map(([name, value]) => namedEntry(number, name, write(value))));

const namedEntry = (number: number, name: string, value: Uint8Array | undefined): Uint8Array =>
  entry(
    number,
    BYTES,
    Buffer.concat([entry(1, BYTES, utf8(name)), ...(value === undefined ? [] : [entry(2, BYTES, value)])]),
  );

const entriesOf = (value: Json): [string, Json][] =>
  isObject(value) ? (Object.entries(value).filter(([, v]) => v !== undefined) as [string, Json][]) : [];

/** A message by its keywords; `extensions` is the field number for keywords that begin with `x-`. */
function message(fields: () => Readonly<Record<string, Field>>, extensions?: number): Write {
  let known: Readonly<Record<string, Field>> | undefined;
  return (value) => {
    known ??= fields();
    const parts: Uint8Array[] = [];
    for (const [word, content] of entriesOf(value)) {
      if (Object.hasOwn(known, word)) parts.push(...fieldBytes(known[word]!, content));
      else if (extensions !== undefined && word.startsWith('x-'))
        parts.push(namedEntry(extensions, word, anything(content)));
    }
    return Buffer.concat(parts);
  };
}

function fieldBytes({ number, wire, repeated, write }: Field, content: Json): Uint8Array[] {
  const values = repeated ? (Array.isArray(content) ? content : []) : [content];
  return values.flatMap((value) => {
    const bytes = write(value);
    return bytes === undefined ? [] : [entry(number, wire, bytes)];
  });
}

/** A message with a single field. */
const wrapped =
  (number: number, write: Write): Write =>
  (value) => {
    const bytes = write(value);
    return bytes && entry(number, BYTES, bytes);
  };

const schema: Write = message(
  () => ({
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: nested(5, anything),
    multipleOf: float(6),
    maximum: float(7),
    exclusiveMaximum: truth(8),
    minimum: float(9),
    exclusiveMinimum: truth(10),
    maxLength: whole(11),
    minLength: whole(12),
    pattern: text(13),
    maxItems: whole(14),
    minItems: whole(15),
    uniqueItems: truth(16),
    maxProperties: whole(17),
    minProperties: whole(18),
    required: each(text(19)),
    enum: each(nested(20, anything)),
    additionalProperties: nested(21, additional),
    type: nested(22, typeItem),
    items: nested(23, wrapped(1, schema)),
    allOf: each(nested(24, schema)),
    properties: nested(25, named(1, schema)),
  }),
  31,
);

const additional: Write = (value) =>
  typeof value === 'boolean' ? entry(2, VARINT, varint(value ? 1 : 0)) : wrapped(1, schema)(value);

const typeItem: Write = (value) =>
  Buffer.concat((Array.isArray(value) ? value : [value]).map((name) => entry(1, BYTES, utf8(String(name)))));

const bodyParameter: Write = message(() => ({
  description: text(1),
  name: text(2),
  in: text(3),
  required: truth(4),
  schema: nested(5, schema),
}));

/** Query parameters have allowEmptyValue, which shifts all following field numbers. */
const parameterIn = (type: number, unique: number): Write =>
  message(() => ({
    required: truth(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(type),
    format: text(type + 1),
    default: nested(type + 4, anything),
    uniqueItems: truth(unique),
  }));

const PLACES: Readonly<Record<string, Write>> = {
  header: wrapped(1, parameterIn(5, 19)),
  query: wrapped(3, parameterIn(6, 20)),
  path: wrapped(4, parameterIn(5, 19)),
};

/** A oneof of two messages, one of which is a oneof of four. */
const parameter: Write = (value) => {
  const place = isObject(value) ? value['in'] : undefined;
  if (place === 'body') return wrapped(1, wrapped(1, bodyParameter))(value);
  const write = typeof place === 'string' && Object.hasOwn(PLACES, place) ? PLACES[place] : undefined;
  return write && wrapped(1, wrapped(2, write))(value);
};

const response: Write = message(() => ({ description: text(1), schema: nested(2, wrapped(1, schema)) }), 5);

const operation: Write = message(
  () => ({
    tags: each(text(1)),
    summary: text(2),
    description: text(3),
    operationId: text(5),
    produces: each(text(6)),
    consumes: each(text(7)),
    parameters: each(nested(8, parameter)),
    responses: nested(9, named(1, wrapped(1, response))),
    schemes: each(text(10)),
    deprecated: truth(11),
  }),
  13,
);

const pathItem: Write = message(
  () => ({
    get: nested(2, operation),
    put: nested(3, operation),
    post: nested(4, operation),
    delete: nested(5, operation),
    options: nested(6, operation),
    head: nested(7, operation),
    patch: nested(8, operation),
    parameters: each(nested(9, parameter)),
  }),
  10,
);

const apiKey: Write = message(() => ({ type: text(1), name: text(2), in: text(3), description: text(4) }), 5);

const textList: Write = (value) =>
  Buffer.concat((Array.isArray(value) ? value : []).map((item) => entry(1, BYTES, utf8(String(item)))));

const document: Write = message(
  () => ({
    swagger: text(1),
    info: nested(
      2,
      message(() => ({ title: text(1), version: text(2), description: text(3) }), 7),
    ),
    paths: nested(8, named(2, pathItem)),
    definitions: nested(9, named(1, schema)),
    security: each(nested(12, named(1, textList))),
    securityDefinitions: nested(13, named(1, wrapped(2, apiKey))),
  }),
  16,
);

export const swaggerProtobuf = (value: JsonObject): Uint8Array => document(value)!;
