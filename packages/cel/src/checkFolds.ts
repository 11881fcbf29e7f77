// Type checks of loops and other macros with their own variables. cel-go checks the expansion of a macro; this code
// checks the macro itself and reports the same messages.

import type { Block, Expr, Fold, OptMap } from './ast.ts';
import { noMatchingOverload } from './checkCalls.ts';
import type { Checker } from './checker.ts';
import {
  BOOL,
  type CelType,
  DYN,
  ERROR,
  formatType,
  INT,
  isDynOrError,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
} from './types.ts';

const COMPARABLE = new Set(['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']);

export function checkFold(c: Checker, e: Fold): CelType {
  const range = c.now(c.check(e.range));
  const [key, element] = rangeTypes(c, e, range);
  if (e.second === undefined) {
    c.setType(e.first, range.kind === 'list' ? element : key);
  } else {
    c.setType(e.first, key);
    c.setType(e.second, element);
  }
  const locals = e.second === undefined ? [e.first] : [e.first, e.second];
  return c.within(locals, () => resultOf(c, e, range));
}

/** The types of a loop's variables: keys (or indexes) and elements (or values). */
function rangeTypes(c: Checker, e: Fold, range: CelType): readonly [CelType, CelType] {
  switch (range.kind) {
    case 'list':
      return [INT, range.params[0]!];
    case 'map':
      return [range.params[0]!, range.params[1]!];
    case 'dyn':
    case 'any':
    case 'error':
    case 'param':
      c.subst.assign(DYN, range);
      return [DYN, DYN];
    default:
      c.report(
        e.range.at,
        `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
      return [ERROR, ERROR];
  }
}

function resultOf(c: Checker, e: Fold, range: CelType): CelType {
  switch (e.fold) {
    case 'all':
    case 'exists': {
      const t = c.check(e.filter!);
      if (!c.subst.assign(t, BOOL)) c.mismatch(e.filter!.at, BOOL, t);
      return BOOL;
    }
    case 'existsOne':
      checkCondition(c, e, e.filter, INT);
      return BOOL;
    case 'filter': {
      const list = listOf(e.first.type!);
      checkCondition(c, e, e.filter, list);
      return c.now(list);
    }
    case 'map':
      return checkTransform(c, e, (t) => listOf(t));
    case 'transformMap':
      return checkTransform(c, e, (t) => mapOf(e.first.type!, t));
    case 'transformMapEntry':
      return checkTransform(c, e, (t) => entryMap(c, e, t));
    default:
      return checkSortKey(c, e, range);
  }
}

/** Checks a predicate that selects between two values of type `branch`, like the conditional in cel-go's expansion. */
function checkCondition(c: Checker, e: Fold, filter: Expr | undefined, branch: CelType): void {
  if (filter === undefined) return;
  const t = c.check(filter);
  if (!c.subst.assign(t, BOOL)) noMatchingOverload(c, e.at, '_?_:_', [t, branch, branch], false);
}

function checkTransform(c: Checker, e: Fold, wrap: (t: CelType) => CelType): CelType {
  const filter = e.filter === undefined ? undefined : c.check(e.filter);
  const result = wrap(c.check(e.transform!));
  if (filter !== undefined && !c.subst.assign(filter, BOOL)) {
    noMatchingOverload(c, e.at, '_?_:_', [filter, result, result], false);
  }
  return c.now(result);
}

function entryMap(c: Checker, e: Fold, t: CelType): CelType {
  const map = mapOf(c.freshParam(), c.freshParam());
  if (!c.subst.assign(t, map)) noMatchingOverload(c, e.at, 'cel.@mapInsert', [map, t], false);
  return map;
}

function checkSortKey(c: Checker, e: Fold, range: CelType): CelType {
  const key = c.now(c.check(e.transform!));
  const comparable = COMPARABLE.has(key.kind) || isDynOrError(key) || key.kind === 'param';
  if (!comparable) noMatchingOverload(c, e.at, '@sortByAssociatedKeys', [range, listOf(key)], true);
  return range.kind === 'list' ? range : DYN;
}

export function checkOptMap(c: Checker, e: OptMap): CelType {
  const target = c.now(c.check(e.target));
  const inner = c.freshParam();
  if (!c.subst.assign(target, optionalOf(inner))) noMatchingOverload(c, e.at, 'hasValue', [target], true);
  c.setType(e.local, isOptional(target) ? target.params[0]! : c.now(inner));
  const body = c.within([e.local], () => c.check(e.body));
  if (!e.flat) return optionalOf(body);
  const result = optionalOf(c.freshParam());
  if (!c.subst.assign(body, result)) noMatchingOverload(c, e.at, '_?_:_', [BOOL, body, result], false);
  return c.now(body);
}

/** Each slot can refer to the slots before it. */
export function checkBlock(c: Checker, e: Block): CelType {
  const visible = e.slots.map((s) => s.local);
  for (const [i, slot] of e.slots.entries()) {
    c.setType(
      slot.local,
      c.within(visible.slice(0, i), () => c.check(slot.init)),
    );
  }
  return c.within(visible, () => c.check(e.body));
}
