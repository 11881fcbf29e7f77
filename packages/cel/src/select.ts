// Reads fields, keys and indexes. The hot path of most programs is `object.field` on bound JSON, which is a single
// property read. Names that also exist on a prototype take a slower, safe path.

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

/** Names that a plain property read might find although the map has no such key. */
const RESERVED_KEYS: ReadonlySet<string> = new Set(
  [...OURS, ...FOREIGN].flatMap(namesOf).concat('typeValue'),
);

/** Whether a name needs the safe lookup: see above, and Opaque in values.ts for the prefix. */
export const isReservedKey = (key: string): boolean => RESERVED_KEYS.has(key) || key.startsWith('opaque');

export const missingKey = (key: Value): Failure => fail(`no such key: ${describeKey(key)}`);
const missingIndex = (index: Value): Failure => fail(`index out of bounds: ${describeKey(index)}`);

/** The key of a CelMap for a value, or undefined if no map can have such a key. */
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

/** The value of a map for a key. Undefined if absent, an error if the map cannot have such keys. */
export function mapGet(map: Value, key: Value): Value | undefined {
  if (map instanceof CelMap) {
    const canonical = canonicalKey(key);
    return canonical === undefined ? undefined : map.celEntries.get(canonical)?.[1];
  }
  return typeof key === 'string' && isPlainMap(map) ? ownValue(map, key) : undefined;
}

/** The index that a value represents: an int, or another number that equals one. */
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

/** `container[key]`, or undefined if the element does not exist. Errors are returned as values. */
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

/** `container[key]`. An error if the element does not exist. */
export function index(container: Value, key: Value): Value {
  if (container instanceof Optional) return indexOptional(container, key);
  const found = find(container, key);
  if (found !== undefined) return found;
  return Array.isArray(container) ? missingIndex(key) : missingKey(key);
}

const isContainer = (v: Value): boolean => Array.isArray(v) || isMap(v) || v instanceof Failure;

/**
 * `container[?key]`, and every further step after an optional: none if the element does not exist. For a container
 * without elements, such as a number, the language requires an error and Kubernetes returns none.
 */
export function indexOptional(container: Value, key: Value, strict = true): Value {
  const inner = container instanceof Optional ? container.heldValue : container;
  if (inner === undefined) return NONE;
  if (strict && !isContainer(inner)) return missingKey(key);
  const found = find(inner, key);
  if (found === undefined) return NONE;
  return found instanceof Failure ? found : new Optional(found);
}

/** `has(container.field)`. `strict` as in indexOptional. */
export function has(container: Value, field: string, strict: boolean): Value {
  if (container instanceof Failure) return container;
  if (container instanceof Optional) {
    return container.heldValue === undefined ? false : has(container.heldValue, field, strict);
  }
  if (strict && !isContainer(container)) return missingKey(field);
  const found = find(container, field);
  return found instanceof Failure ? found : found !== undefined;
}
