// Optional values: `a.?b`, `m[?k]`, orValue, optMap.

import { fn, type Library, member, overload } from '../declarations.ts';
import { typeConstant } from '../environment.ts';
import { isZero } from '../equality.ts';
import type { Frame } from '../frame.ts';
import { OPTIONAL_MACROS } from '../macrosMore.ts';
import { index, indexOptional } from '../select.ts';
import { BOOL, DYN, INT, listOf, mapOf, optionalOf, param, STRING } from '../types.ts';
import { adapt, fail, NONE, Optional, type Value } from '../values.ts';

const K = param('K');
const V = param('V');
const OPT_V = optionalOf(V);
const LIST_V = listOf(V);
const MAP_KV = mapOf(K, V);

function unwrap(list: Value, f: Frame): Value | undefined {
  if (!Array.isArray(list)) return undefined;
  f.work(list.length);
  const out: Value[] = [];
  for (const e of list) {
    if (!(e instanceof Optional)) return fail('value is not optional');
    if (e.heldValue !== undefined) out.push(e.heldValue);
  }
  return out;
}

const end = (last: boolean) => (list: Value) => {
  if (!Array.isArray(list)) return undefined;
  const element = list.at(last ? -1 : 0);
  return element === undefined ? NONE : new Optional(adapt(element));
};

const optionalIndex = (container: Value, key: Value, f: Frame): Value =>
  indexOptional(container, key, f.strictPresence);

/** `or` and `orValue` have their own compilation, because their right side is lazy. */
const lazily = () => undefined;

function value(v: Value): Value | undefined {
  if (!(v instanceof Optional)) return undefined;
  return v.heldValue === undefined ? fail('optional.none() dereference') : v.heldValue;
}

export const OPTIONALS: Library = {
  name: 'optional',
  optionalSyntax: true,
  macros: OPTIONAL_MACROS,
  constants: [typeConstant('optional_type', optionalOf(DYN))],
  functions: [
    fn(
      'optional.of',
      overload('optional_of', [V], OPT_V, (v: Value) => new Optional(v)),
    ),
    fn(
      'optional.ofNonZeroValue',
      overload('optional_ofNonZeroValue', [V], OPT_V, (v: Value) => (isZero(v) ? NONE : new Optional(v))),
    ),
    fn(
      'optional.none',
      overload('optional_none', [], OPT_V, () => NONE),
    ),
    fn('value', member('optional_value', [OPT_V], V, value)),
    fn(
      'hasValue',
      member('optional_hasValue', [OPT_V], BOOL, (v: Value) =>
        v instanceof Optional ? v.heldValue !== undefined : undefined,
      ),
    ),
    fn('or', member('optional_or_optional', [OPT_V, OPT_V], OPT_V, lazily)),
    fn('orValue', member('optional_orValue_value', [OPT_V, V], V, lazily)),
    fn('_?._', overload('select_optional_field', [DYN, STRING], OPT_V, optionalIndex)),
    fn(
      '_[?_]',
      overload('list_optindex_optional_int', [LIST_V, INT], OPT_V, optionalIndex),
      overload('optional_list_optindex_optional_int', [optionalOf(LIST_V), INT], OPT_V, optionalIndex),
      overload('map_optindex_optional_value', [MAP_KV, K], OPT_V, optionalIndex),
      overload('optional_map_optindex_optional_value', [optionalOf(MAP_KV), K], OPT_V, optionalIndex),
    ),
    fn(
      '_[_]',
      overload('optional_list_index_int', [optionalOf(LIST_V), INT], OPT_V, index),
      overload('optional_map_index_value', [optionalOf(MAP_KV), K], OPT_V, index),
    ),
    fn('last', member('list_last', [LIST_V], OPT_V, end(true))),
    fn('first', member('list_first', [LIST_V], OPT_V, end(false))),
    fn('optional.unwrap', overload('optional_unwrap', [listOf(OPT_V)], LIST_V, unwrap)),
    fn('unwrapOpt', member('optional_unwrapOpt', [listOf(OPT_V)], LIST_V, unwrap)),
  ],
};
