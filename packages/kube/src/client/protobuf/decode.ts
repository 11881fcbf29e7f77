// Decodes the fields of a protobuf message that a shape names, in their JSON form. Empty values that Go omits from JSON
// (strings, times) are omitted.

import { formatTime, instant } from '@lapse/base/instant';
import { isObject, type Json, type JsonObject, setOwn } from '#api/json';
import type { Field, Shape } from '#api/shape';
import { BYTES, type Cursor, ProtobufError, VARINT } from './cursor.ts';

type ReadField = (cursor: Cursor, out: JsonObject) => void;

interface Slot {
  readonly name: string;
  readonly wire: number;
  readonly read: ReadField;
}

/** Indexed by field number. */
type Plan = readonly (Slot | undefined)[];

const plans = new WeakMap<Shape, Plan>();

function planOf(shape: Shape): Plan {
  const known = plans.get(shape);
  if (known !== undefined) return known;
  const plan: (Slot | undefined)[] = [];
  for (const [name, field] of Object.entries(shape)) {
    // A dense array, because it is read for every field of every message.
    while (plan.length <= field.number) plan.push(undefined);
    const wire = field.form === 'int' || field.form === 'flag' ? VARINT : BYTES;
    plan[field.number] = { name, wire, read: readerOf(name, field) };
  }
  plans.set(shape, plan);
  return plan;
}

function readerOf(name: string, { form, shape = {}, keys }: Field): ReadField {
  switch (form) {
    case 'text':
      return (cursor, out) => {
        const value = cursor.text();
        if (value !== '') out[name] = value;
      };
    case 'texts':
      return (cursor, out) => listIn(out, name).push(cursor.text());
    case 'int':
      return (cursor, out) => {
        out[name] = cursor.varint();
      };
    case 'flag':
      return (cursor, out) => {
        out[name] = cursor.varint() !== 0;
      };
    case 'time':
      return (cursor, out) => {
        const value = readTime(cursor);
        if (value !== undefined) out[name] = value;
      };
    case 'map':
      return (cursor, out) => readEntry(cursor, out, name, keys);
    case 'one': {
      const plan = planOf(shape);
      return (cursor, out) => {
        const old = out[name];
        // A message that is sent in several parts is merged.
        out[name] = readMessage(cursor, plan, isObject(old) ? old : {});
      };
    }
    case 'many': {
      const plan = planOf(shape);
      return (cursor, out) => listIn(out, name).push(readMessage(cursor, plan, {}));
    }
  }
}

function listIn(out: JsonObject, name: string): Json[] {
  const old = out[name];
  if (Array.isArray(old)) return old;
  const list: Json[] = [];
  out[name] = list;
  return list;
}

/** The message in the current length-delimited field. */
function readMessage(cursor: Cursor, plan: Plan, out: JsonObject): JsonObject {
  const end = cursor.enter();
  const outer = cursor.end;
  cursor.end = end;
  readFields(cursor, plan, out);
  cursor.end = outer;
  return out;
}

function readFields(cursor: Cursor, plan: Plan, out: JsonObject): void {
  while (cursor.at < cursor.end) {
    const tag = cursor.varint();
    const slot = plan[tag >>> 3];
    if (slot === undefined) cursor.skip(tag & 7);
    else if (slot.wire === (tag & 7)) slot.read(cursor, out);
    else throw new ProtobufError(`${slot.name} has wire type ${tag & 7}, not ${slot.wire}`);
  }
}

const TIMESTAMP: Shape = { seconds: { number: 1, form: 'int' } };

function readTime(cursor: Cursor): string | undefined {
  const { seconds } = readMessage(cursor, planOf(TIMESTAMP), {});
  if (seconds === undefined) return undefined;
  if (typeof seconds !== 'number' || seconds < -62_135_596_800 || seconds > 253_402_300_799)
    throw new ProtobufError(`${String(seconds)} is not a time`);
  return formatTime(instant(seconds * 1000));
}

/** One entry of a map: key in field 1, value in field 2. Values of keys outside the shape are skipped. */
function readEntry(cursor: Cursor, out: JsonObject, name: string, keys: readonly string[] | undefined): void {
  const end = cursor.enter();
  const outer = cursor.end;
  cursor.end = end;
  let key = '';
  let value = '';
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag === ENTRY_KEY) key = cursor.text();
    else if (tag === ENTRY_VALUE && (keys === undefined || keys.includes(key))) value = cursor.text();
    else cursor.skip(tag & 7);
  }
  cursor.end = outer;
  if (keys !== undefined && !keys.includes(key)) return;
  const old = out[name];
  const entries: JsonObject = isObject(old) ? old : {};
  setOwn(entries, key, value);
  out[name] = entries;
}

const ENTRY_KEY = (1 << 3) | BYTES;
const ENTRY_VALUE = (2 << 3) | BYTES;

/** The fields of the message between the cursor and its end. Throws ProtobufError. */
export function decodeShape(cursor: Cursor, shape: Shape): JsonObject {
  const out: JsonObject = {};
  readFields(cursor, planOf(shape), out);
  return out;
}
