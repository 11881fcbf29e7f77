// Reading fields, keys and indexes. The one hot path of most programs is `object.field` on bound JSON, so it is
// a single property read; every name that some prototype also answers to takes the careful path instead.

import { AssociativeList } from './associativeList.ts';
import { describeKey } from './describe.ts';
import { typeOfValue } from './typeOfValue.ts';
import {
  adapt,
  type CelKey,
  CelMap,
  CelObject,
  Double,
  Duration,
  Failure,
  fail,
  isMap,
  isPlainMap,
  NONE,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts';

const OURS = [
  new Uint(0n),
  new Double(0),
  new Timestamp(0, 0),
  new Duration(0, 0),
  new CelMap(),
  new Failure(''),
  NONE,
  AssociativeList.withRule([], { kind: 'set' }),
  TypeValue.prototype,
  CelObject.prototype,
];
const FOREIGN = [Object.prototype, Array.prototype, [], Map.prototype, Buffer.prototype, new Uint8Array(0)];

function namesOf(o: object | null): string[] {
  return o === null ? [] : [...Object.getOwnPropertyNames(o), ...namesOf(Object.getPrototypeOf(o))];
}

/** Names that a plain property read might find where CEL sees none. */
const RESERVED_KEYS: ReadonlySet<string> = new Set(
  [...OURS, ...FOREIGN].flatMap(namesOf).concat('typeValue'),
);

/** True for a name that must be looked up with care: see above, and Opaque in values.ts for the prefix. */
export const isReservedKey = (key: string): boolean => RESERVED_KEYS.has(key) || key.startsWith('opaque');

export const missingKey = (key: Value): Failure => fail(`no such key: ${describeKey(key)}`);
const missingIndex = (index: Value): Failure => fail(`index out of bounds: ${describeKey(index)}`);

/** The key under which a CelMap files a value, or undefined when no map can have such a key. */
export function canonicalKey(key: Value): CelKey | undefined {
  switch (typeof key) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return key;
  }
  if (key instanceof Uint) return canonicalInteger(key.uintBits);
  if (key instanceof Double && Number.isInteger(key.float64)) return canonicalInteger(BigInt(key.float64));
  return undefined;
}

function canonicalInteger(n: bigint): CelKey {
  const small = Number(n);
  return Number.isSafeInteger(small) ? small : n;
}

/** The own value of an object under a key, or undefined. */
export function ownValue(map: { readonly [key: string]: Value | undefined }, key: string): Value | undefined {
  if (!Object.hasOwn(map, key)) return undefined;
  const value = map[key];
  return value === undefined ? undefined : adapt(value);
}

/** What a map holds under a key; undefined when nothing, an error when it cannot hold such keys. */
export function mapGet(map: Value, key: Value): Value | undefined {
  if (map instanceof CelMap) {
    const canonical = canonicalKey(key);
    return canonical === undefined ? undefined : map.celEntries.get(canonical)?.[1];
  }
  return typeof key === 'string' && isPlainMap(map) ? ownValue(map, key) : undefined;
}

/** The index a value stands for: an int, or another number that equals one. */
export function indexOf(index: Value): number | undefined {
  if (typeof index === 'number') return index;
  if (index instanceof Uint) return Number(index.uintBits);
  if (index instanceof Double && Number.isInteger(index.float64)) return index.float64;
  return typeof index === 'bigint' ? Number(index) : undefined;
}

const unsupportedIndex = (key: Value): string =>
  key instanceof Double
    ? `unsupported index value ${describeKey(key)} in list`
    : `unsupported index type '${typeOfValue(key).name}' in list`;

/** `container[key]`, or undefined when there is no such element. Errors come back as errors. */
export function find(container: Value, key: Value): Value | undefined {
  if (container instanceof Failure) return container;
  if (key instanceof Failure) return key;
  if (Array.isArray(container)) {
    const i = indexOf(key);
    if (i === undefined) return fail(unsupportedIndex(key));
    const element = i >= 0 && i < container.length ? container[i] : undefined;
    return element === undefined ? undefined : adapt(element);
  }
  return mapGet(container, key);
}

/** `container[key]`; what is not there is an error. */
export function index(container: Value, key: Value): Value {
  if (container instanceof Optional) return indexOptional(container, key);
  const found = find(container, key);
  if (found !== undefined) return found;
  return Array.isArray(container) ? missingIndex(key) : missingKey(key);
}

const isContainer = (v: Value): boolean => Array.isArray(v) || isMap(v) || v instanceof Failure;

/**
 * `container[?key]`, and every further step behind an optional: what is not there is none. What could not have had
 * it, a number say, is an error to the language and none to Kubernetes.
 */
export function indexOptional(container: Value, key: Value, strict = true): Value {
  const inner = container instanceof Optional ? container.heldValue : container;
  if (inner === undefined) return NONE;
  if (strict && !isContainer(inner)) return missingKey(key);
  const found = find(inner, key);
  if (found === undefined) return NONE;
  return found instanceof Failure ? found : new Optional(found);
}

/** `has(container.field)`, as strict as indexOptional. */
export function has(container: Value, field: string, strict: boolean): Value {
  if (container instanceof Failure) return container;
  if (container instanceof Optional) {
    return container.heldValue === undefined ? false : has(container.heldValue, field, strict);
  }
  if (strict && !isContainer(container)) return missingKey(field);
  const found = find(container, field);
  return found instanceof Failure ? found : found !== undefined;
}
