// Protobuf request bodies (`application/vnd.kubernetes.protobuf`): the `k8s\0` envelope, and messages of built-in
// kinds, decoded with the generated table. A message is first converted to the JSON that a client would have sent,
// then decoded by decodeTyped, so both encodings share one set of rules. Responses are never protobuf.

import { clone, getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import type { BuiltinField, BuiltinTable, BuiltinType, WireForm } from './builtinTable.ts';
import { DecodeError } from './decodeError.ts';
import { BYTES, ProtobufReader, VARINT } from './protobufReader.ts';
import { packable, SCALAR_READERS } from './protobufScalars.ts';
import { decodeTyped } from './typed.ts';
import { isScalar, SCALARS } from './typedScalars.ts';

/** Deeper messages could overflow the stack (only JSON schemas are recursive). */
const MAX_DEPTH = 500;
const PREFIX = Buffer.from('k8s\0');

/** The envelope itself is invalid: the server reports an unrecognized object. */
export class EnvelopeError extends DecodeError {}

export interface Envelope {
  apiVersion: string;
  kind: string;
  /** The message of the kind. */
  raw: Uint8Array;
  contentEncoding: string;
  contentType: string;
}

/** Throws EnvelopeError. */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  if (bytes.length === 0) throw new EnvelopeError('empty data');
  if (!PREFIX.equals(bytes.subarray(0, PREFIX.length)))
    throw new EnvelopeError(
      `provided data does not appear to be a protobuf message, expected prefix [${[...PREFIX].join(' ')}]`,
    );
  if (bytes.length === PREFIX.length) throw new EnvelopeError('empty body');
  try {
    return readUnknown(new ProtobufReader(bytes, PREFIX.length));
  } catch (error) {
    throw error instanceof DecodeError ? new EnvelopeError(error.message) : error;
  }
}

function readUnknown(reader: ProtobufReader): Envelope {
  const out: Envelope = {
    apiVersion: '',
    kind: '',
    raw: new Uint8Array(),
    contentEncoding: '',
    contentType: '',
  };
  while (!reader.done) {
    const { field, wire } = reader.tag('Unknown');
    if (field < 1 || field > 4) reader.skip();
    else {
      requireWire(wire, BYTES, ['TypeMeta', 'Raw', 'ContentEncoding', 'ContentType'][field - 1]!);
      if (field === 1) readTypeMeta(reader.message(), out);
      else if (field === 2) out.raw = reader.bytes();
      else if (field === 3) out.contentEncoding = reader.string();
      else out.contentType = reader.string();
    }
  }
  return out;
}

function readTypeMeta(reader: ProtobufReader, out: Envelope): void {
  while (!reader.done) {
    const { field, wire } = reader.tag('TypeMeta');
    if (field !== 1 && field !== 2) reader.skip();
    else {
      requireWire(wire, BYTES, field === 1 ? 'APIVersion' : 'Kind');
      const text = reader.string();
      if (field === 1) out.apiVersion = text;
      else out.kind = text;
    }
  }
}

function requireWire(wire: number, expected: number, field: string): void {
  if (wire !== expected) throw new DecodeError(`proto: wrong wireType = ${wire} for field ${field}`);
}

/** Decodes a message of struct `typeName` into the object that Go would encode in JSON. Throws DecodeError. */
export function decodeMessage(table: BuiltinTable, typeName: string, bytes: Uint8Array): JsonObject {
  const json: JsonObject = {};
  new MessageReader(table).read(typeName, new ProtobufReader(bytes), json);
  return decodeTyped(table, typeName, json).value;
}

interface NumberedField {
  name: string;
  field: BuiltinField;
}

const numbered = new WeakMap<BuiltinType, Map<number, NumberedField | string>>();

/** Fields by number; a string is an embedded struct, whose fields belong to the same object. */
function fieldsByNumber(type: BuiltinType): Map<number, NumberedField | string> {
  let map = numbered.get(type);
  if (map === undefined) {
    map = new Map(type.embedded?.map(({ n, t }) => [n, t]));
    for (const [name, field] of Object.entries(type.fields))
      if (field.n !== undefined) map.set(field.n, { name, field });
    numbered.set(type, map);
  }
  return map;
}

/** Go writes a few names in capitals. */
const goName = (name: string): string =>
  name === 'uid' || name === 'ip' ? name.toUpperCase() : name.charAt(0).toUpperCase() + name.slice(1);

class MessageReader {
  readonly #table: BuiltinTable;
  #depth = 0;

  constructor(table: BuiltinTable) {
    this.#table = table;
  }

  read(typeName: string, reader: ProtobufReader, out: JsonObject): void {
    const type = this.#table.types[typeName];
    if (type === undefined)
      throw new Error(`type ${typeName} is not in the built-in type table; run npm run generate`);
    if (++this.#depth > MAX_DEPTH) throw new DecodeError('proto: exceeded max depth');
    const fields = fieldsByNumber(type);
    const message = type.go.replace(/^.*\./, '');
    while (!reader.done) {
      const { field: number, wire } = reader.tag(message);
      const entry = fields.get(number);
      if (entry === undefined) reader.skip();
      else if (typeof entry === 'string') {
        requireWire(wire, BYTES, entry.replace(/^.*\./, ''));
        this.read(entry, reader.message(), out);
      } else this.#readField(entry, wire, reader, out);
    }
    this.#depth--;
  }

  #readField({ name, field }: NumberedField, wire: number, reader: ProtobufReader, out: JsonObject): void {
    const old = getOwn(out, name);
    if (field.map) {
      requireWire(wire, BYTES, goName(name));
      const map: JsonObject = isObject(old) ? old : {};
      out[name] = map;
      this.#readEntry(field, reader.message(), map);
    } else if (field.list) {
      const list: Json[] = Array.isArray(old) ? old : [];
      out[name] = list;
      if (wire === BYTES && packable(field.t)) this.#readPacked(field, reader.message(), list);
      else list.push(this.#value(field, wire, reader, goName(name)));
    } else out[name] = this.#value(field, wire, reader, goName(name), old);
  }

  #readPacked(field: BuiltinField, reader: ProtobufReader, list: Json[]): void {
    while (!reader.done) list.push(this.#value(field, VARINT, reader, ''));
  }

  /** One entry of a map: key in field 1, value in field 2. */
  #readEntry(field: BuiltinField, reader: ProtobufReader, map: JsonObject): void {
    let key = '';
    let value: Json | undefined;
    while (!reader.done) {
      const { field: number, wire } = reader.tag('Entry');
      if (number === 1) {
        requireWire(wire, BYTES, 'Key');
        key = reader.string();
      } else if (number === 2) value = this.#value(field, wire, reader, 'Value');
      else reader.skip();
    }
    setOwn(map, key, value ?? this.#missingValue(field));
  }

  #missingValue(field: BuiltinField): Json {
    if (field.list) return [];
    if (field.t === 'bytes') return '';
    return isScalar(field.t) ? clone(SCALARS[field.t].zero) : {};
  }

  #value(field: BuiltinField, wire: number, reader: ProtobufReader, name: string, old?: Json): Json {
    if (field.pb !== undefined) {
      requireWire(wire, BYTES, name);
      return this.#wireValue(field.pb, reader.message());
    }
    if (isScalar(field.t)) {
      const scalar = SCALAR_READERS[field.t];
      requireWire(wire, scalar.wire, name);
      return scalar.read(reader);
    }
    requireWire(wire, BYTES, name);
    // A repeated message is merged, as protobuf defines it.
    const out: JsonObject = isObject(old) ? old : {};
    this.read(field.t, reader.message(), out);
    return out;
  }

  /** A message that encodes a JSON value of another shape. */
  #wireValue(typeName: string, reader: ProtobufReader): Json {
    const out: JsonObject = {};
    this.read(typeName, reader, out);
    return unwrap(this.#table.types[typeName]!.wire ?? 'items', out);
  }
}

const isFilled = (value: Json | undefined): value is Json[] => Array.isArray(value) && value.length > 0;

function unwrap(form: WireForm, { items, raw, schema, allows, property, jSONSchemas }: JsonObject): Json {
  switch (form) {
    case 'items':
      return items ?? [];
    case 'raw':
      return typeof raw === 'string' ? rawJson(Buffer.from(raw, 'base64')) : null;
    case 'orArray':
      return isFilled(jSONSchemas) ? jSONSchemas : (schema ?? null);
    case 'orStringArray':
      return isFilled(property) ? property : (schema ?? null);
    case 'orBool':
      return schema ?? allows ?? false;
  }
}

/** JSON text inside a message. */
function rawJson(bytes: Uint8Array): Json {
  if (bytes.length === 0) return null;
  try {
    return parseJson(bytes, { maxDepth: MAX_DEPTH }).value;
  } catch (error) {
    throw new DecodeError((error as Error).message);
  }
}
