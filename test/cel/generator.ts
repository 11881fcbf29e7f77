// Random programs that type-check: text for the engine, and the same program as a tree for the tree walker. Types are
// chosen first, so most of a program is well typed. `dyn(…)` hides the type of some operands, so that run-time errors
// and their absorption are as common as values.

import type { Random } from '@lapse/base/random';
import { number, type Ref, type Tree, text } from './treeWalker.ts';

export interface Generated {
  readonly text: string;
  readonly tree: Tree;
}

type Type =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'timestamp'
  | 'duration'
  | `list(${string})`
  | `map(${string})`;

const SCALARS: readonly Type[] = ['bool', 'int', 'uint', 'double', 'string', 'timestamp', 'duration'];
// Results are mostly bool where this engine is used.
const ROOTS: readonly Type[] = [...SCALARS, 'bool', 'bool', 'list(int)', 'list(string)', 'map(int)'];

/** Variables every program may use, with their values for both evaluators. */
export const VARIABLES: Readonly<Record<string, { type: Type; json: unknown; ref: Ref }>> = {
  i: { type: 'int', json: 7, ref: number('int', 7n) },
  s: { type: 'string', json: 'héllo 😀 World', ref: text('héllo 😀 World') },
  b: { type: 'bool', json: true, ref: { t: 'bool', v: true } },
  li: {
    type: 'list(int)',
    json: [3, -1, 2],
    ref: { t: 'list', v: [number('int', 3n), number('int', -1n), number('int', 2n)] },
  },
  ls: { type: 'list(string)', json: ['b', 'a', ''], ref: { t: 'list', v: [text('b'), text('a'), text('')] } },
  m: {
    type: 'map(int)',
    json: { a: 1, b: -2 },
    ref: {
      t: 'map',
      v: [
        [text('a'), number('int', 1n)],
        [text('b'), number('int', -2n)],
      ],
    },
  },
};

// Mostly ordinary values: a program that overflows at once does not test the rest of it.
const INTS = [
  ...['0', '1', '1', '2', '2', '3', '-1', '-2', '7', '100', '12', '5', '4', '1', '2', '3'],
  ...['9007199254740993', '9223372036854775807', '-9223372036854775808'],
];
const UINTS = ['0u', '1u', '1u', '2u', '3u', '5u', '8u', '13u', '18446744073709551615u'];
const DOUBLES = ['0.0', '1.0', '-2.5', '1e300', '3.25', '7.0'];
const STRINGS = ['', 'a', 'b', 'héllo', '😀x', 'World', '12', 'a b'];
const TIMES: readonly [string, bigint][] = [
  ['2026-01-01T00:00:00Z', 1_767_225_600_000_000_000n],
  ['2026-01-01T01:00:00+01:00', 1_767_225_600_000_000_000n],
  ['2020-02-29T12:30:00.000000001Z', 1_582_979_400_000_000_001n],
  ['1969-12-31T23:59:59.5Z', -500_000_000n],
  ['9999-12-31T23:59:59.999999999Z', 253_402_300_799_999_999_999n],
  ['0001-01-01T00:00:00Z', -62_135_596_800_000_000_000n],
];
const DURATIONS: readonly [string, bigint][] = [
  ['0s', 0n],
  ['1h', 3_600_000_000_000n],
  ['-1.5s', -1_500_000_000n],
  ['1ns', 1n],
  ['90m', 5_400_000_000_000n],
  ['24h', 86_400_000_000_000n],
  ['2562047h', 9_223_369_200_000_000_000n],
];

export class Generator {
  readonly #random: Random;
  #names = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  program(): Generated {
    return this.#of(this.#pick(ROOTS), 4, {});
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random.next() * from.length)]!;
  }

  #chance(p: number): boolean {
    return this.#random.next() < p;
  }

  /** An expression of a type, or of any type behind dyn. */
  #of(type: Type, depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const names = Object.entries({ ...types(VARIABLES), ...scope }).filter(([, t]) => t === type);
    if (names.length > 0 && this.#chance(depth <= 0 ? 0.6 : 0.25)) return name(this.#pick(names)[0]);
    if (depth <= 0) return this.#literal(type);
    if (this.#chance(0.12)) return this.#ternary(type, depth, scope);
    if (this.#chance(0.04)) return this.#bind(type, depth, scope);
    if (this.#chance(0.06)) return this.#element(type, depth, scope);
    switch (type) {
      case 'bool':
        return this.#bool(depth, scope);
      case 'int':
      case 'uint':
      case 'double':
        return this.#number(type, depth, scope);
      case 'string':
        return this.#string(depth, scope);
      case 'timestamp':
      case 'duration':
        return this.#time(type, depth, scope);
      default:
        return type.startsWith('list(') ? this.#list(type, depth, scope) : this.#literal(type);
    }
  }

  /** Sometimes the wanted type, sometimes another one, always behind dyn. */
  #hidden(type: Type, depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const actual = this.#chance(0.1) ? this.#pick(SCALARS) : type;
    return call('dyn', [this.#of(actual, depth - 1, scope)]);
  }

  #operand(type: Type, depth: number, scope: Readonly<Record<string, Type>>): Generated {
    return this.#chance(0.15) ? this.#hidden(type, depth, scope) : this.#of(type, depth - 1, scope);
  }

  #ternary(type: Type, depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const [c, a, b] = [
      this.#operand('bool', depth, scope),
      this.#of(type, depth - 1, scope),
      this.#of(type, depth - 1, scope),
    ];
    return {
      text: `(${c.text} ? ${a.text} : ${b.text})`,
      tree: { k: 'call', fn: '?:', args: [c.tree, a.tree, b.tree] },
    };
  }

  #bind(type: Type, depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const local = `v${this.#names++}`;
    const boundType = this.#pick(SCALARS);
    const init = this.#of(boundType, depth - 1, scope);
    const body = this.#of(type, depth - 1, { ...scope, [local]: boundType });
    return {
      text: `cel.bind(${local}, ${init.text}, ${body.text})`,
      tree: { k: 'bind', name: local, init: init.tree, body: body.tree },
    };
  }

  /** An element of a list or a map. */
  #element(type: Type, depth: number, scope: Readonly<Record<string, Type>>): Generated {
    if (this.#chance(0.5)) {
      const list = this.#of(`list(${type})` as Type, depth - 1, scope);
      const index = this.#index();
      return {
        text: `${list.text}[${index.text}]`,
        tree: { k: 'call', fn: 'index', args: [list.tree, index.tree] },
      };
    }
    const map = this.#literal(`map(${type})` as Type);
    const key = this.#pick(['a', 'b', 'c']);
    const tree = (fn: string, more: readonly Tree[] = []): Tree => ({
      k: 'call',
      fn,
      args: [map.tree, value(text(key)), ...more],
    });
    if (this.#chance(0.5)) return { text: `${map.text}.${key}`, tree: tree('select') };
    const otherwise = this.#of(type, depth - 1, scope);
    return {
      text: `${map.text}[?"${key}"].orValue(${otherwise.text})`,
      tree: tree('orValue', [otherwise.tree]),
    };
  }

  /** A number that is often a valid index. */
  #index(): Generated {
    const digits = this.#pick(['0', '0', '0', '0', '1', '1', '2', '3', '(-1)']);
    return { text: digits, tree: value(number('int', BigInt(digits.replace(/[()]/g, '')))) };
  }

  #bool(depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const kind = Math.floor(this.#random.next() * 7);
    if (kind === 0) return call('!', [this.#operand('bool', depth, scope)]);
    if (kind === 1 || kind === 2) {
      const terms = [
        this.#operand('bool', depth, scope),
        this.#operand('bool', depth, scope),
        ...(this.#chance(0.3) ? [this.#operand('bool', depth, scope)] : []),
      ];
      return infix(kind === 1 ? '&&' : '||', terms);
    }
    if (kind === 3) return this.#quantifier(depth, scope);
    if (kind === 4) return this.#membership(depth, scope);
    if (kind === 5)
      return method(this.#pick(['startsWith', 'endsWith', 'contains']), [
        this.#operand('string', depth, scope),
        this.#operand('string', depth, scope),
      ]);
    const type = this.#pick(SCALARS);
    const op = this.#pick(['==', '!=', '<', '<=', '>', '>=']);
    return infix(op, [this.#operand(type, depth, scope), this.#operand(type, depth, scope)]);
  }

  #quantifier(depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const element = this.#pick(SCALARS);
    const range = this.#of(`list(${element})` as Type, depth - 1, scope);
    return this.#fold(this.#pick(['all', 'exists', 'exists_one']), range, element, 'bool', depth, scope);
  }

  #fold(
    fold: string,
    range: Generated,
    element: Type,
    result: Type,
    depth: number,
    scope: Readonly<Record<string, Type>>,
  ): Generated {
    const local = `e${this.#names++}`;
    const body = this.#operand(result, depth, { ...scope, [local]: element });
    return {
      text: `${range.text}.${fold}(${local}, ${body.text})`,
      tree: { k: 'fold', fold, range: range.tree, name: local, body: body.tree },
    };
  }

  #membership(depth: number, scope: Readonly<Record<string, Type>>): Generated {
    if (this.#chance(0.3)) {
      const key = this.#pick(['a', 'b', 'zz']);
      return {
        text: `has(m.${key})`,
        tree: { k: 'call', fn: 'has', args: [{ k: 'name', name: 'm' }, value(text(key))] },
      };
    }
    const type = this.#pick(SCALARS);
    return infix('in', [
      this.#operand(type, depth, scope),
      this.#of(`list(${type})` as Type, depth - 1, scope),
    ]);
  }

  #number(type: 'int' | 'uint' | 'double', depth: number, scope: Readonly<Record<string, Type>>): Generated {
    if (this.#chance(0.25)) return this.#conversion(type, depth, scope);
    if (type !== 'uint' && this.#chance(0.1)) return call('-', [this.#operand(type, depth, scope)]);
    const op = this.#pick(type === 'double' ? ['+', '-', '*', '/'] : ['+', '-', '*', '/', '%']);
    return infix(op, [this.#operand(type, depth, scope), this.#operand(type, depth, scope)]);
  }

  #conversion(
    type: 'int' | 'uint' | 'double',
    depth: number,
    scope: Readonly<Record<string, Type>>,
  ): Generated {
    if (type === 'int' && this.#chance(0.5)) {
      const sized: readonly Type[] = ['string', 'list(int)', 'map(int)'];
      if (this.#chance(0.5)) return call('size', [this.#of(this.#pick(sized), depth - 1, scope)]);
      return method('indexOf', [
        this.#operand('string', depth, scope),
        this.#operand('string', depth, scope),
      ]);
    }
    const from: readonly Type[] =
      type === 'int' ? ['int', 'uint', 'double', 'string', 'timestamp'] : ['int', 'uint', 'double'];
    return call(type, [this.#of(this.#pick(from), depth - 1, scope)]);
  }

  #string(depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const kind = Math.floor(this.#random.next() * 4);
    if (kind === 0)
      return call('string', [this.#of(this.#pick(['int', 'uint', 'bool', 'string']), depth - 1, scope)]);
    if (kind === 1) return method('lowerAscii', [this.#operand('string', depth, scope)]);
    if (kind === 2) {
      const bounds = Array.from({ length: this.#chance(0.5) ? 1 : 2 }, () => this.#index());
      return method('substring', [this.#operand('string', depth, scope), ...bounds]);
    }
    return infix('+', [this.#operand('string', depth, scope), this.#operand('string', depth, scope)]);
  }

  #time(type: 'timestamp' | 'duration', depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const op = this.#pick(['+', '-']);
    if (type === 'duration' && this.#chance(0.4)) {
      return infix('-', [this.#of('timestamp', depth - 1, scope), this.#of('timestamp', depth - 1, scope)]);
    }
    return infix(op, [this.#of(type, depth - 1, scope), this.#operand('duration', depth, scope)]);
  }

  #list(type: Type, depth: number, scope: Readonly<Record<string, Type>>): Generated {
    const element = type.slice(5, -1) as Type;
    const scalar = SCALARS.includes(element);
    const kind = Math.floor(this.#random.next() * 4);
    if (kind === 0 && scalar)
      return this.#fold('filter', this.#of(type, depth - 1, scope), element, 'bool', depth, scope);
    if (kind === 1 && scalar) {
      const from = this.#pick(SCALARS);
      return this.#fold(
        'map',
        this.#of(`list(${from})` as Type, depth - 1, scope),
        from,
        element,
        depth,
        scope,
      );
    }
    if (kind === 2) return infix('+', [this.#of(type, depth - 1, scope), this.#of(type, depth - 1, scope)]);
    return listOf(
      Array.from({ length: 1 + Math.floor(this.#random.next() * 3) }, () =>
        this.#of(element, depth - 1, scope),
      ),
    );
  }

  #literal(type: Type): Generated {
    switch (type) {
      case 'bool':
        return this.#chance(0.5)
          ? { text: 'true', tree: value({ t: 'bool', v: true }) }
          : { text: 'false', tree: value({ t: 'bool', v: false }) };
      case 'int': {
        const digits = this.#pick(INTS);
        return {
          text: digits.startsWith('-') ? `(${digits})` : digits,
          tree: value(number('int', BigInt(digits))),
        };
      }
      case 'uint': {
        const digits = this.#pick(UINTS);
        return { text: digits, tree: value(number('uint', BigInt(digits.slice(0, -1)))) };
      }
      case 'double': {
        const digits = this.#pick(DOUBLES);
        return { text: `(${digits})`, tree: value({ t: 'double', v: Number(digits) }) };
      }
      case 'string': {
        const s = this.#pick(STRINGS);
        return { text: JSON.stringify(s), tree: value(text(s)) };
      }
      case 'timestamp':
      case 'duration': {
        const [shown, nanos] = this.#pick(type === 'timestamp' ? TIMES : DURATIONS);
        return { text: `${type}("${shown}")`, tree: value(number(type, nanos)) };
      }
      default:
        return this.#container(type);
    }
  }

  #container(type: Type): Generated {
    const element = type.slice(type.indexOf('(') + 1, -1) as Type;
    const count = Math.floor(this.#random.next() * 3) + 1;
    if (type.startsWith('list(')) return listOf(Array.from({ length: count }, () => this.#literal(element)));
    const entries = ['a', 'b', 'c'].slice(0, count).map((key) => [key, this.#literal(element)] as const);
    return {
      text: `{${entries.map(([k, v]) => `"${k}": ${v.text}`).join(', ')}}`,
      tree: { k: 'map', entries: entries.map(([k, v]) => [value(text(k)), v.tree] as const) },
    };
  }
}

const types = (variables: typeof VARIABLES): Record<string, Type> =>
  Object.fromEntries(Object.entries(variables).map(([k, v]) => [k, v.type]));
const value = (v: Ref): Tree => ({ k: 'value', value: v });
const name = (n: string): Generated => ({ text: n, tree: { k: 'name', name: n } });
const trees = (parts: readonly Generated[]) => parts.map((p) => p.tree);
const texts = (parts: readonly Generated[], separator: string) => parts.map((p) => p.text).join(separator);

const call = (fn: string, args: readonly Generated[]): Generated => ({
  text: `${fn}(${texts(args, ', ')})`,
  tree: { k: 'call', fn, args: trees(args) },
});
const method = (fn: string, args: readonly Generated[]): Generated => ({
  text: `${args[0]!.text}.${fn}(${texts(args.slice(1), ', ')})`,
  tree: { k: 'call', fn, args: trees(args) },
});
const infix = (op: string, args: readonly Generated[]): Generated => ({
  text: `(${texts(args, ` ${op} `)})`,
  tree: { k: 'call', fn: op, args: trees(args) },
});
const listOf = (items: readonly Generated[]): Generated => ({
  text: `[${texts(items, ', ')}]`,
  tree: { k: 'list', items: trees(items) },
});
