// A reference implementation: a small tree-walking evaluator, written to be obviously correct rather than fast. Every
// number is a bigint or a tagged double, every time a count of nanoseconds, every text an array of code points. It
// shares no code with the engine, not even the parser: it evaluates the trees of the generator, not their text.

export type Ref =
  | { readonly t: 'error' }
  | { readonly t: 'null' }
  | { readonly t: 'bool'; readonly v: boolean }
  | { readonly t: 'int'; readonly v: bigint }
  | { readonly t: 'uint'; readonly v: bigint }
  | { readonly t: 'timestamp'; readonly v: bigint }
  | { readonly t: 'duration'; readonly v: bigint }
  | { readonly t: 'double'; readonly v: number }
  | { readonly t: 'string'; readonly v: readonly string[] }
  | { readonly t: 'list'; readonly v: readonly Ref[] }
  | { readonly t: 'map'; readonly v: readonly (readonly [Ref, Ref])[] };

export type Tree =
  | { readonly k: 'value'; readonly value: Ref }
  | { readonly k: 'name'; readonly name: string }
  | { readonly k: 'call'; readonly fn: string; readonly args: readonly Tree[] }
  | { readonly k: 'list'; readonly items: readonly Tree[] }
  | { readonly k: 'map'; readonly entries: readonly (readonly [Tree, Tree])[] }
  | {
      readonly k: 'fold';
      readonly fold: string;
      readonly range: Tree;
      readonly name: string;
      readonly body: Tree;
    }
  | { readonly k: 'bind'; readonly name: string; readonly init: Tree; readonly body: Tree };

export type Scope = ReadonlyMap<string, Ref>;

const ERROR: Ref = { t: 'error' };
const bool = (v: boolean): Ref => ({ t: 'bool', v });
const INT_MIN = -(2n ** 63n);
const INT_MAX = 2n ** 63n - 1n;
const UINT_MAX = 2n ** 64n - 1n;
const SECOND = 1_000_000_000n;
const FIRST_INSTANT = -62_135_596_800n * SECOND;
const LAST_INSTANT = 253_402_300_800n * SECOND - 1n;

const RANGES = {
  int: [INT_MIN, INT_MAX],
  uint: [0n, UINT_MAX],
  duration: [INT_MIN, INT_MAX],
  timestamp: [FIRST_INSTANT, LAST_INSTANT],
} as const;

export function number(t: keyof typeof RANGES, v: bigint): Ref {
  const [least, most] = RANGES[t];
  return v < least || v > most ? ERROR : ({ t, v } as Ref);
}

export const text = (s: string): Ref => ({ t: 'string', v: [...s] });
const join = (r: Ref): string => (r.t === 'string' ? r.v.join('') : '');

export function walk(e: Tree, scope: Scope): Ref {
  switch (e.k) {
    case 'value':
      return e.value;
    case 'name':
      return scope.get(e.name) ?? ERROR;
    case 'list':
      return firstError(
        e.items.map((i) => walk(i, scope)),
        (v) => ({ t: 'list', v }),
      );
    case 'map':
      return walkMap(e.entries, scope);
    case 'fold':
      return walkFold(e, scope);
    case 'bind':
      return walk(e.body, new Map([...scope, [e.name, walk(e.init, scope)]]));
    default:
      return walkCall(e.fn, e.args, scope);
  }
}

function firstError(values: readonly Ref[], ok: (v: readonly Ref[]) => Ref): Ref {
  return values.some((v) => v.t === 'error') ? ERROR : ok(values);
}

function walkMap(entries: readonly (readonly [Tree, Tree])[], scope: Scope): Ref {
  const built: [Ref, Ref][] = [];
  for (const [k, v] of entries) {
    const key = walk(k, scope);
    const value = walk(v, scope);
    if (key.t === 'error' || value.t === 'error') return ERROR;
    if (!['string', 'int', 'uint', 'bool'].includes(key.t)) return ERROR;
    if (built.some(([other]) => equal(other, key))) return ERROR;
    built.push([key, value]);
  }
  return { t: 'map', v: built };
}

function walkFold(e: Extract<Tree, { k: 'fold' }>, scope: Scope): Ref {
  const range = walk(e.range, scope);
  const items = range.t === 'list' ? range.v : range.t === 'map' ? range.v.map(([k]) => k) : undefined;
  if (items === undefined) return ERROR;
  const results = items.map((item) => walk(e.body, new Map([...scope, [e.name, item]])));
  return foldResult(e.fold, items, results);
}

/** The result of a macro, from the results of its body for each item. */
function foldResult(fold: string, items: readonly Ref[], results: readonly Ref[]): Ref {
  const holds = (want: boolean) => results.some((r) => r.t === 'bool' && r.v === want);
  const allBool = results.every((r) => r.t === 'bool');
  switch (fold) {
    case 'all':
      return holds(false) ? bool(false) : allBool ? bool(true) : ERROR;
    case 'exists':
      return holds(true) ? bool(true) : allBool ? bool(false) : ERROR;
    case 'exists_one':
      return allBool ? bool(results.filter((r) => r.t === 'bool' && r.v).length === 1) : ERROR;
    case 'filter':
      return allBool ? { t: 'list', v: items.filter((_, i) => equal(results[i]!, bool(true))) } : ERROR;
    default:
      return firstError(results, (v) => ({ t: 'list', v }));
  }
}

function walkCall(fn: string, args: readonly Tree[], scope: Scope): Ref {
  if (fn === '&&' || fn === '||')
    return walkLogic(
      fn === '||',
      args.map((a) => walk(a, scope)),
    );
  if (fn === '?:') {
    const test = walk(args[0]!, scope);
    return test.t === 'bool' ? walk(args[test.v ? 1 : 2]!, scope) : ERROR;
  }
  if (fn === 'has' || fn === 'orValue') return walkPresence(fn, args, scope);
  const values = args.map((a) => walk(a, scope));
  return firstError(values, () => apply(fn, values));
}

function walkLogic(decider: boolean, values: readonly Ref[]): Ref {
  if (values.some((v) => v.t === 'bool' && v.v === decider)) return bool(decider);
  return values.every((v) => v.t === 'bool') ? bool(!decider) : ERROR;
}

/** has(m.key) and m[?key].orValue(x): the arguments are map, key and, for the latter, the default. */
function walkPresence(fn: string, [m, k, otherwise]: readonly Tree[], scope: Scope): Ref {
  const map = walk(m!, scope);
  const key = walk(k!, scope);
  if (map.t === 'error' || key.t === 'error') return ERROR;
  const found = lookUp(map, key);
  if (fn === 'has') return map.t === 'map' || map.t === 'list' ? bool(found !== undefined) : bool(false);
  return found ?? walk(otherwise!, scope);
}

function lookUp(map: Ref, key: Ref): Ref | undefined {
  if (map.t === 'map') return map.v.find(([k]) => equal(k, key))?.[1];
  if (map.t !== 'list' || key.t !== 'int') return undefined;
  return map.v[Number(key.v)];
}

type NumberRef = Extract<Ref, { t: 'int' | 'uint' | 'double' }>;

const isNumber = (r: Ref): r is NumberRef => r.t === 'int' || r.t === 'uint' || r.t === 'double';

type Entries = readonly (readonly [Ref, Ref])[];

const containsAll = (map: Entries, entries: Entries): boolean =>
  entries.every(([k, v]) => map.some(([k2, v2]) => equal(k, k2) && equal(v, v2)));

export function equal(a: Ref, b: Ref): boolean {
  if (isNumber(a) && isNumber(b)) {
    return a.t === 'double' || b.t === 'double' ? Number(a.v) === Number(b.v) : a.v === b.v;
  }
  if (a.t !== b.t) return false;
  if (a.t === 'list' && b.t === 'list')
    return a.v.length === b.v.length && a.v.every((v, i) => equal(v, b.v[i]!));
  if (a.t === 'map' && b.t === 'map') return a.v.length === b.v.length && containsAll(b.v, a.v);
  if (a.t === 'string') return join(a) === join(b);
  return a.t === 'null' || ('v' in a && 'v' in b && a.v === b.v);
}

const sign = (less: boolean, more: boolean): number => (less ? -1 : more ? 1 : 0);

/** Negative, 0 or positive; undefined if the values cannot be ordered. */
function order(a: Ref, b: Ref): number | undefined {
  if (isNumber(a) && isNumber(b)) return orderOfNumbers(a, b);
  if (a.t !== b.t || a.t === 'null' || a.t === 'list' || a.t === 'map' || a.t === 'error') return undefined;
  if (a.t !== 'string' || b.t !== 'string')
    return 'v' in a && 'v' in b ? sign(a.v < b.v, a.v > b.v) : undefined;
  return orderOfTexts(a.v, b.v);
}

function orderOfNumbers(a: NumberRef, b: NumberRef): number | undefined {
  if (Number.isNaN(a.v) || Number.isNaN(b.v)) return undefined;
  if (a.t === 'double' || b.t === 'double') return sign(Number(a.v) < Number(b.v), Number(a.v) > Number(b.v));
  return sign(a.v < b.v, a.v > b.v);
}

function orderOfTexts(a: readonly string[], b: readonly string[]): number {
  for (const [i, c] of a.entries()) {
    const d = b[i];
    if (d === undefined) return 1;
    if (c !== d) return c.codePointAt(0)! < d.codePointAt(0)! ? -1 : 1;
  }
  return a.length - b.length;
}

const ARITHMETIC: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};
const FLOATS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
};

function arithmetic(fn: string, a: Ref, b: Ref): Ref {
  if ((a.t === 'int' && b.t === 'int') || (a.t === 'uint' && b.t === 'uint'))
    return integerArithmetic(fn, a.t, a.v, b.v);
  if (a.t === 'double' && b.t === 'double')
    return fn === '%' ? ERROR : { t: 'double', v: FLOATS[fn]!(a.v, b.v) };
  if (fn === '+' && a.t === 'string' && b.t === 'string') return { t: 'string', v: [...a.v, ...b.v] };
  if (fn === '+' && a.t === 'list' && b.t === 'list') return { t: 'list', v: [...a.v, ...b.v] };
  return timeArithmetic(fn, a, b);
}

function integerArithmetic(fn: string, type: 'int' | 'uint', a: bigint, b: bigint): Ref {
  if ((fn === '/' || fn === '%') && b === 0n) return ERROR;
  // The remainder exists only where the quotient does.
  if (fn === '%' && number(type, a / b) === ERROR) return ERROR;
  return number(type, ARITHMETIC[fn]!(a, b));
}

function timeArithmetic(fn: string, a: Ref, b: Ref): Ref {
  if (fn !== '+' && fn !== '-') return ERROR;
  const sum = (x: bigint, y: bigint) => (fn === '+' ? x + y : x - y);
  if (a.t === 'duration' && b.t === 'duration') return number('duration', sum(a.v, b.v));
  if (a.t === 'timestamp' && b.t === 'duration') return number('timestamp', sum(a.v, b.v));
  if (a.t === 'duration' && b.t === 'timestamp') return fn === '+' ? number('timestamp', a.v + b.v) : ERROR;
  return fn === '-' && a.t === 'timestamp' && b.t === 'timestamp' ? number('duration', a.v - b.v) : ERROR;
}

const COMPARISONS: Readonly<Record<string, (o: number) => boolean>> = {
  '<': (o) => o < 0,
  '<=': (o) => o <= 0,
  '>': (o) => o > 0,
  '>=': (o) => o >= 0,
};

function apply(fn: string, [a, b, c]: readonly Ref[]): Ref {
  if (a === undefined) return ERROR;
  if (b === undefined) return applyOne(fn, a);
  if (fn === '==') return bool(equal(a, b));
  if (fn === '!=') return bool(!equal(a, b));
  if (fn in COMPARISONS) {
    const o = order(a, b);
    return o === undefined ? ERROR : bool(COMPARISONS[fn]!(o));
  }
  if (fn in ARITHMETIC) return arithmetic(fn, a, b);
  if (fn === 'in') return contains(a, b);
  if (fn === 'index' || fn === 'select') return lookUp(a, b) ?? ERROR;
  return a.t === 'string' ? onString(fn, a.v, b, c) : ERROR;
}

function contains(element: Ref, container: Ref): Ref {
  if (container.t === 'list') return bool(container.v.some((v) => equal(v, element)));
  return container.t === 'map' ? bool(container.v.some(([k]) => equal(k, element))) : ERROR;
}

function applyOne(fn: string, a: Ref): Ref {
  switch (fn) {
    case 'dyn':
      return a;
    case '!':
      return a.t === 'bool' ? bool(!a.v) : ERROR;
    case '-':
      if (a.t === 'double') return { t: 'double', v: -a.v };
      // The checker has no negation of a duration; behind dyn there is one.
      return a.t === 'int' || a.t === 'duration' ? number(a.t, -a.v) : ERROR;
    case 'size':
      return a.t === 'string' || a.t === 'list' || a.t === 'map'
        ? { t: 'int', v: BigInt(a.v.length) }
        : ERROR;
    case 'lowerAscii':
      return a.t === 'string'
        ? { t: 'string', v: a.v.map((ch) => (/[A-Z]/.test(ch) ? ch.toLowerCase() : ch)) }
        : ERROR;
    default:
      return convert(fn, a);
  }
}

function convert(fn: string, a: Ref): Ref {
  switch (fn) {
    case 'int':
      return toInt(a);
    case 'uint':
      if (a.t === 'int' || a.t === 'uint') return number('uint', a.v);
      return a.t === 'double' && a.v >= 0 && a.v < 2 ** 64 ? number('uint', BigInt(Math.trunc(a.v))) : ERROR;
    case 'double':
      return isNumber(a) ? { t: 'double', v: Number(a.v) } : ERROR;
    case 'string':
      return a.t === 'int' || a.t === 'uint' || a.t === 'bool'
        ? text(String(a.v))
        : a.t === 'string'
          ? a
          : ERROR;
    default:
      return ERROR;
  }
}

function toInt(a: Ref): Ref {
  if (a.t === 'int' || a.t === 'uint') return number('int', a.v);
  if (a.t === 'timestamp') return { t: 'int', v: (a.v - (((a.v % SECOND) + SECOND) % SECOND)) / SECOND };
  if (a.t === 'double') return Math.abs(a.v) < 2 ** 63 ? number('int', BigInt(Math.trunc(a.v))) : ERROR;
  if (a.t !== 'string') return ERROR;
  return /^[+-]?\d+$/.test(join(a)) ? number('int', BigInt(join(a).replace('+', ''))) : ERROR;
}

function onString(fn: string, s: readonly string[], b: Ref, c: Ref | undefined): Ref {
  if (fn === 'substring') return substring(s, b, c);
  if (b.t !== 'string') return ERROR;
  const at = (i: number) => b.v.every((ch, j) => s[i + j] === ch);
  const places = Array.from({ length: s.length + 1 }, (_, i) => i).filter(
    (i) => i + b.v.length <= s.length && at(i),
  );
  switch (fn) {
    case 'startsWith':
      return bool(places.includes(0));
    case 'endsWith':
      return bool(places.includes(s.length - b.v.length));
    case 'contains':
      return bool(places.length > 0);
    case 'indexOf':
      return { t: 'int', v: BigInt(places[0] ?? -1) };
    default:
      return ERROR;
  }
}

function substring(s: readonly string[], from: Ref, to: Ref | undefined): Ref {
  if (from.t !== 'int' || (to !== undefined && to.t !== 'int')) return ERROR;
  const end = to === undefined ? BigInt(s.length) : to.v;
  if (from.v < 0n || from.v > end || end > BigInt(s.length)) return ERROR;
  return { t: 'string', v: s.slice(Number(from.v), Number(end)) };
}
