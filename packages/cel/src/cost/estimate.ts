// Estimates the cost of a program without data: cel-go's estimate, which Kubernetes compares with its limits when a CRD
// is created. Sizes come from the TypeProvider (maxLength, maxItems, maxProperties). Values without a declared maximum
// are unbounded.

import type { Call, Expr, Fold, Local, OptMap, Select } from '../ast.ts';
import type { Environment } from '../environment.ts';
import type { CelType } from '../types.ts';
import { coverAll, estimateOverload, type Operand } from './callCosts.ts';
import { add, multiply, NOTHING, type Range, range, UNKNOWN, union } from './ranges.ts';
import { typeOf, unionEntries, ValueSizes } from './valueSizes.ts';

const ONE = range(1);
const LIST = range(10);
const MAP = range(30);
const STRUCT = range(40);

/** The minimum and maximum cost of a program. */
export const estimateCost = (root: Expr, env: Environment): Range => new Estimator(env).cost(root);

class Estimator {
  readonly #env: Environment;
  readonly #sizes: ValueSizes;

  constructor(env: Environment) {
    this.#env = env;
    this.#sizes = new ValueSizes(env);
  }

  cost(e: Expr): Range {
    switch (e.kind) {
      case 'ident':
        return this.#name(e, e.name);
      case 'select':
        return this.#select(e);
      case 'call':
        return this.#call(e);
      case 'logical': {
        const terms = e.terms.map((t) => this.cost(t));
        return range(terms[0]!.min, add(...terms).max);
      }
      case 'list':
        return this.#list(e);
      case 'map':
        return this.#map(e);
      case 'struct':
        return add(STRUCT, ...e.fields.map((f) => this.cost(f.value)));
      case 'fold':
        return this.#fold(e);
      case 'bind':
        return this.#bind(e, e.local, e.init, e.body);
      case 'optMap':
        return this.#optMap(e);
      case 'block':
        return add(...e.slots.map((s) => this.#slot(s.local, s.init)), this.cost(e.body));
      default:
        return NOTHING;
    }
  }

  // Names and paths

  #name(e: Expr, name: string): Range {
    this.#sizes.setPath(e, this.#sizes.variable(e)?.path ?? [name]);
    return ONE;
  }

  #select(e: Select): Range {
    if (e.binding !== undefined)
      return this.#name(e, e.binding.kind === 'variable' ? e.binding.name : e.field);
    const operand = this.cost(e.operand);
    if (e.testOnly) return add(operand, this.#env.options.presenceTestCost ? ONE : NOTHING);
    this.#sizes.setPath(e, [...this.#sizes.path(e.operand), e.field]);
    const { kind } = typeOf(e.operand);
    return kind === 'map' || kind === 'struct' || kind === 'param' ? add(operand, ONE) : operand;
  }

  // Literals

  #list(e: Extract<Expr, { kind: 'list' }>): Range {
    const values = e.elements.map((el) => el.value);
    const cost = add(...values.map((v) => this.cost(v)));
    const sizes = values.map((v) => this.#sizes.size(v));
    this.#sizes.setEntries(e, {
      list: true,
      key: ONE,
      value: sizes.length === 0 ? NOTHING : sizes.reduce(union),
    });
    return add(cost, LIST);
  }

  #map(e: Extract<Expr, { kind: 'map' }>): Range {
    const cost = add(...e.entries.flatMap((en) => [this.cost(en.key), this.cost(en.value)]));
    const cover = (parts: readonly Expr[]) =>
      parts.length === 0 ? NOTHING : parts.map((p) => this.#sizes.size(p)).reduce(union);
    const key = cover(e.entries.map((en) => en.key));
    const value = cover(e.entries.map((en) => en.value));
    this.#sizes.setEntries(e, { list: false, key, value });
    return add(cost, MAP);
  }

  // Calls

  #call(e: Call): Range {
    const name = e.resolved ?? e.function;
    if (name === 'dyn') {
      const cost = this.cost(e.args[0]!);
      this.#sizes.copySizes(e, e.args[0]!);
      return add(cost, ONE);
    }
    const costs = e.args.map((a) => this.cost(a));
    if (name === '_?_:_') return this.#conditional(e, costs);
    const isMember = e.resolved === undefined && e.target !== undefined;
    const receiver = isMember ? this.cost(e.target!) : NOTHING;
    const overloads = e.overloads ?? [];
    if (overloads.length === 0) return NOTHING;
    const target = isMember ? this.#operand(e.target!) : undefined;
    const args = e.args.map((a) => this.#operand(a));
    const elements = (list: Operand) => this.#elements(list);
    const estimate = coverAll(
      overloads.map((o) => estimateOverload({ name, overload: o, target, args, elements })),
    );
    this.#trackResult(e, overloads, estimate.size);
    return add(receiver, estimate.cost, ...costs);
  }

  /** Records the origin of an indexed value and the size of the result. */
  #trackResult(e: Call, overloads: readonly string[], size: Range | undefined): void {
    let result = size;
    for (const [overload, step] of INDEXES) {
      if (!overloads.includes(overload)) continue;
      this.#sizes.setPath(e, [...this.#sizes.path(e.args[0]!), step]);
      result = this.#sizes.entriesOf(e.args[0]!)?.value;
    }
    if (overloads.includes('add_list') || overloads.includes('add_string')) {
      this.#sizes.setEntries(
        e,
        unionEntries(this.#sizes.entriesOf(e.args[0]!), this.#sizes.entriesOf(e.args[1]!)),
      );
    }
    this.#sizes.setSize(e, result ?? this.#sizes.sizeOf(e));
  }

  #conditional(e: Call, [test, yes, no]: readonly Range[]): Range {
    const [, whenTrue, whenFalse] = e.args as [Expr, Expr, Expr];
    this.#sizes.setSize(e, union(this.#sizes.size(whenTrue), this.#sizes.size(whenFalse)));
    this.#sizes.setEntries(
      e,
      unionEntries(this.#sizes.entriesOf(whenTrue), this.#sizes.entriesOf(whenFalse)),
    );
    return add(test!, union(yes!, no!));
  }

  #operand(e: Expr): Operand {
    const literal = e.kind === 'literal' && typeof e.value === 'number' ? e.value : undefined;
    return { type: typeOf(e), path: this.#sizes.path(e), size: this.#sizes.size(e), literal };
  }

  #elements(list: Operand): { type: CelType; size: Range } | undefined {
    const type = list.type.params[0];
    if (type === undefined) return undefined;
    return {
      type,
      size: this.#sizes.bounds(list.path.length === 0 ? [] : [...list.path, '@items'], type) ?? UNKNOWN,
    };
  }

  // Loops

  #fold(e: Fold): Range {
    const outer = this.cost(e.range);
    this.#enterLoop(e);
    if (e.fold === 'sortBy') return this.#sortBy(e, outer);
    const { init, test, step, result } = this.#loopParts(e);
    const count = this.#sizes.size(e.range);
    this.#sizes.setSize(e, e.fold === 'all' || e.fold === 'exists' || e.fold === 'existsOne' ? ONE : count);
    return add(outer, init, result, multiply(count, add(step, test)));
  }

  /** Sets the paths and sizes of the loop variables. */
  #enterLoop(e: Fold): void {
    const entries = this.#sizes.entriesOf(e.range);
    const isList = entries?.list ?? typeOf(e.range).kind === 'list';
    const path = this.#sizes.path(e.range);
    const declare = (local: Local, step: string, size: Range | undefined) =>
      this.#sizes.declare(local, {
        path: path.length === 0 ? [] : [...path, step],
        size,
        entries: undefined,
      });
    const [keyStep, valueStep] = isList ? ['@indices', '@items'] : ['@keys', '@values'];
    if (e.second === undefined) {
      declare(e.first, isList ? '@items' : '@keys', isList ? entries?.value : entries?.key);
      return;
    }
    declare(e.first, keyStep!, entries?.key);
    declare(e.second, valueStep!, entries?.value);
  }

  /** The cost of one iteration of the macro's expansion. */
  #loopParts(e: Fold): { init: Range; test: Range; step: Range; result: Range } {
    const filter = e.filter === undefined ? undefined : this.cost(e.filter);
    const transform = e.transform === undefined ? NOTHING : this.cost(e.transform);
    const chosen = (step: Range) => (filter === undefined ? step : add(filter, union(step, ONE)));
    switch (e.fold) {
      case 'all':
        return { init: NOTHING, test: range(2), step: range(1, 1 + filter!.max), result: ONE };
      case 'exists':
        return { init: NOTHING, test: range(3), step: range(1, 1 + filter!.max), result: ONE };
      case 'existsOne':
        return { init: NOTHING, test: NOTHING, step: chosen(range(2)), result: range(2) };
      case 'filter':
        this.#sizes.setEntries(e, {
          list: true,
          key: ONE,
          value: range(0, this.#sizes.variableSize(e.first).max),
        });
        return { init: LIST, test: NOTHING, step: chosen(range(13)), result: ONE };
      case 'map':
        this.#sizes.setEntries(e, {
          list: true,
          key: ONE,
          value: range(0, this.#sizes.size(e.transform!).max),
        });
        return { init: LIST, test: NOTHING, step: chosen(add(range(12), transform)), result: ONE };
      case 'transformMap':
        return { init: MAP, test: NOTHING, step: chosen(add(range(3), transform)), result: ONE };
      default:
        return { init: MAP, test: NOTHING, step: chosen(add(range(2), transform)), result: ONE };
    }
  }

  /** Cost of binding the range to a name, mapping it to keys, and sorting by them. */
  #sortBy(e: Fold, outer: Range): Range {
    const count = this.#sizes.size(e.range);
    const keys = add(ONE, LIST, ONE, multiply(count, add(range(12), this.cost(e.transform!))));
    const type = typeOf(e.transform!);
    const kinds = SORTABLE.includes(type.kind) ? [type.name] : SORTABLE;
    const operand: Operand = { type, path: [], size: count, literal: undefined };
    const call = {
      name: '@sortByAssociatedKeys',
      target: operand,
      args: [operand],
      elements: () => undefined,
    };
    const sort = coverAll(
      kinds.map((k) => estimateOverload({ ...call, overload: `list_${k}_sortByAssociatedKeys` })),
    );
    this.#sizes.setSize(e, sort.size ?? UNKNOWN);
    return add(LIST, outer, ONE, keys, sort.cost);
  }

  #slot(local: Local, init: Expr): Range {
    const cost = this.cost(init);
    this.#sizes.declare(local, {
      path: this.#sizes.path(init),
      size: this.#sizes.sizeOf(init),
      entries: this.#sizes.entriesOf(init),
    });
    return cost;
  }

  /** cel-go expands a bind to a loop over an empty list, and charges for the list. */
  #bind(e: Expr, local: Local, init: Expr, body: Expr): Range {
    const cost = add(LIST, this.#slot(local, init), this.cost(body));
    this.#sizes.copySizes(e, body);
    return cost;
  }

  #optMap(e: OptMap): Range {
    const target = this.cost(e.target);
    this.#sizes.declare(e.local, { path: [], size: undefined, entries: undefined });
    const bound = add(LIST, target, ONE, this.cost(e.body));
    return add(target, ONE, union(e.flat ? bound : add(bound, ONE), ONE));
  }
}

const SORTABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];
const INDEXES = [
  ['index_list', '@items'],
  ['index_map', '@values'],
] as const;
