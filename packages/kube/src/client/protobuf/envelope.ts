// The Kubernetes protobuf envelope: four magic bytes, the type of the message, and the message itself. Also decodes the
// messages that are not objects of a kind: lists, Status and watch events.

import type { JsonObject } from '#api/json';
import type { Kind } from '#api/kind';
import { apiVersionOf, asObject, type KubeObject } from '#api/object';
import { int, many, map, one, type Shape, text } from '#api/shape';
import { BYTES, Cursor, ProtobufError } from './cursor.ts';
import { decodeShape } from './decode.ts';

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

interface Envelope {
  readonly kind: string;
  /** Positioned at the beginning of the message, and limited to it. */
  readonly message: Cursor;
}

/** Throws ProtobufError. */
export function openEnvelope(bytes: Buffer, from = 0, to = bytes.length): Envelope {
  if (to - from < MAGIC.length || bytes.compare(MAGIC, 0, MAGIC.length, from, from + MAGIC.length) !== 0)
    throw new ProtobufError('the response does not start with the Kubernetes protobuf prefix');
  const cursor = new Cursor(bytes, from + MAGIC.length, to);
  let kind = '';
  let message = new Cursor(bytes, to, to);
  while (cursor.at < to) {
    const tag = cursor.varint();
    if ((tag & 7) !== BYTES) {
      cursor.skip(tag & 7);
      continue;
    }
    const end = cursor.enter();
    const part = new Cursor(bytes, cursor.at, end);
    const field = tag >>> 3;
    if (field === 1) kind = String(decodeShape(part, TYPE_META).kind ?? '');
    else if (field === 2) message = part;
    // Content encoding and type: the inner message is not plain protobuf.
    else if ((field === 3 || field === 4) && part.at < part.end)
      throw new ProtobufError(`the message is ${bytes.toString('utf8', part.at, part.end)}`);
    cursor.at = end;
  }
  return { kind, message };
}

const TYPE_META: Shape = { apiVersion: text(1), kind: text(2) };

const STATUS: Shape = {
  status: text(2),
  message: text(3),
  reason: text(4),
  details: one(5, {
    name: text(1),
    group: text(2),
    kind: text(3),
    causes: many(4, { reason: text(1), message: text(2), field: text(3) }),
    retryAfterSeconds: int(5),
    uid: text(6),
  }),
  code: int(6),
};

/** The Status in a response. Undefined if it is another message. Throws ProtobufError. */
export function decodeStatus(bytes: Buffer): JsonObject | undefined {
  const { kind, message } = openEnvelope(bytes);
  return kind === 'Status' ? decodeShape(message, STATUS) : undefined;
}

const listShapes = new WeakMap<Shape, Shape>();

function listShape(item: Shape): Shape {
  let shape = listShapes.get(item);
  if (shape === undefined) {
    const metadata = { resourceVersion: text(2), continue: text(3), remainingItemCount: int(4) };
    shape = { metadata: one(1, metadata), items: many(2, item) };
    listShapes.set(item, shape);
  }
  return shape;
}

/** A list of `kind` in its JSON form. Throws ProtobufError. */
export function decodeList(bytes: Buffer, kind: Kind, item: Shape): JsonObject {
  const envelope = openEnvelope(bytes);
  if (envelope.kind !== `${kind.kind}List`)
    throw new ProtobufError(`expected a ${kind.kind}List, got ${envelope.kind || 'nothing'}`);
  return decodeShape(envelope.message, listShape(item));
}

/** A watch event: its type as on the wire, and its object with the kind in its envelope. */
export interface WireEvent {
  readonly type: string;
  readonly object: JsonObject;
}

const BOOKMARK: Shape = {
  metadata: one(1, { resourceVersion: text(6), annotations: map(12) }),
};

/** One frame of a watch of `kind`. Throws ProtobufError. */
export function decodeWireEvent(frame: Buffer, kind: Kind, shape: Shape): WireEvent {
  const cursor = new Cursor(frame);
  let type = '';
  let envelope: Envelope | undefined;
  while (cursor.at < cursor.end) {
    const tag = cursor.varint();
    if (tag === EVENT_TYPE) type = cursor.text();
    else if (tag === EVENT_OBJECT) {
      const end = cursor.enter();
      envelope = rawOf(frame, cursor.at, end);
      cursor.at = end;
    } else cursor.skip(tag & 7);
  }
  if (envelope === undefined) throw new ProtobufError('watch event without object');
  if (envelope.kind === 'Status') return { type, object: decodeShape(envelope.message, STATUS) };
  if (envelope.kind !== kind.kind)
    throw new ProtobufError(`expected a ${kind.kind}, got ${envelope.kind || 'nothing'}`);
  return { type, object: decodeShape(envelope.message, type === 'BOOKMARK' ? BOOKMARK : shape) };
}

const EVENT_TYPE = (1 << 3) | BYTES;
const EVENT_OBJECT = (2 << 3) | BYTES;

/** The envelope in the first field of a RawExtension. */
function rawOf(frame: Buffer, from: number, to: number): Envelope {
  const cursor = new Cursor(frame, from, to);
  while (cursor.at < to) {
    const tag = cursor.varint();
    if (tag === EVENT_TYPE) return openEnvelope(frame, ...span(cursor));
    cursor.skip(tag & 7);
  }
  throw new ProtobufError('watch event without object');
}

function span(cursor: Cursor): [from: number, to: number] {
  const end = cursor.enter();
  return [cursor.at, end];
}

/** Sets kind and apiVersion of a decoded object. */
export function named<T extends KubeObject>(kind: Kind<T>, object: JsonObject): T {
  object.apiVersion = apiVersionOf(kind);
  object.kind = kind.kind;
  return asObject(object) as T;
}
