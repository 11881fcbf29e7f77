// Estimates for schemas with bounds. The expected numbers are those of Kubernetes' own tests for the same rules.

import { describe, expect, it } from 'vitest';
import {
  type CelType,
  compile,
  DOUBLE,
  estimateCost,
  type FieldType,
  kubernetesEnvironment,
  listOf,
  mapOf,
  type SizeBounds,
  STRING,
  structOf,
  type TypeProvider,
} from '../cel.ts';

// Kubernetes assumes four bytes per character of a bounded string: maxLength 10 is a size of 40.

/** A declared type with its maximum number of elements. Scalars have no maximum. */
interface Declared {
  readonly type: CelType;
  readonly max: number;
  readonly elements?: Declared;
  readonly fields?: Readonly<Record<string, Declared>>;
}

const number: Declared = { type: DOUBLE, max: 0 };
const text = (max: number): Declared => ({ type: STRING, max });
const array = (elements: Declared, max: number): Declared => ({ type: listOf(elements.type), max, elements });
const map = (elements: Declared, max: number): Declared => ({
  type: mapOf(STRING, elements.type),
  max,
  elements,
});
const object = (fields: Readonly<Record<string, Declared>>): Declared => ({
  type: structOf('Object'),
  max: 0,
  fields,
});

/** Resolves a path like Kubernetes' size estimator: the variable is the root, keys of maps are unsized strings. */
function provider(root: Declared): TypeProvider {
  const objects = [...objectsIn(root)];
  return {
    hasStruct: (name) => name === 'Object' && objects.length > 0,
    field(_, field): FieldType | undefined {
      const found = objects[0]?.fields?.[field];
      return found === undefined ? undefined : { type: found.type };
    },
    size([, ...steps]): SizeBounds | undefined {
      let at: Declared | undefined = root;
      for (const step of steps) {
        if (step === '@keys') at = text(0);
        else at = step.startsWith('@') ? at?.elements : at?.fields?.[step];
        if (at === undefined) return undefined;
      }
      return { min: 0, max: at.max };
    },
  };
}

function* objectsIn(d: Declared): Generator<Declared> {
  if (d.fields !== undefined) yield d;
  if (d.elements !== undefined) yield* objectsIn(d.elements);
}

function estimate(rule: string, self: Declared): number {
  const compiled = compile(
    rule,
    kubernetesEnvironment({ variables: { self: self.type }, provider: provider(self) }),
  );
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return estimateCost(compiled.program).max;
}

// The maximum sizes that fit into a request of three megabytes.
const STRING_MAX = 3_145_726;
const NUMBERS_MAX = 1_572_863;

describe('estimated cost', () => {
  it.each<[name: string, rule: string, self: Declared, cost: number]>([
    ['number array with all', 'self.all(x, true)', array(number, NUMBERS_MAX), 4_718_591],
    ['number array with all, bounded', 'self.all(x, true)', array(number, 10), 32],
    ['string array with all, bounded', 'self.all(x, true)', array(text(STRING_MAX), 20), 62],
    [
      'array of number arrays with all, bounded',
      'self.all(x, true)',
      array(array(number, NUMBERS_MAX), 100),
      302,
    ],
    ['map of numbers with all, bounded', 'self.all(x, true)', map(number, 10), 32],
    ['string with contains', "self.contains('test')", text(STRING_MAX), 314_574],
    ['string with contains, bounded', "self.contains('test')", text(4 * 10), 5],
    ['string with startsWith', "self.startsWith('test')", text(STRING_MAX), 2],
    ['concat string', 'size(self + "hello") > size("hello")', text(STRING_MAX), 314_578],
    ['concat string, bounded', 'size(self + "hello") > size("hello")', text(4 * 4), 7],
    ['index of array with numbers', 'self[1] == 0.0', array(number, NUMBERS_MAX), 2],
    ['index of array with strings', 'self[1] == self[1]', array(text(STRING_MAX), 8), 314_577],
    ['O(n^2) loop with numbers', 'self.all(x, self.all(y, true))', array(number, 10), 352],
    ['O(n^3) loop with numbers', 'self.all(x, self.all(y, self.all(z, true)))', array(number, 10), 3552],
    ['regex matches simple', 'self.matches("x")', text(STRING_MAX), 314_574],
    ['regex matches simple, bounded', 'self.matches("x")', text(4 * 50), 22],
    ['regex matches empty string', '"".matches("(((((((((())))))))))[0-9]")', text(10), 7],
    ['regex matches empty regex', 'self.matches("")', text(100), 1],
    ['map of strings with value length', 'self.all(x, x.contains(self[x]))', map(text(4 * 10), 10), 72],
    ['set string maxLength to zero', 'self == "x"', text(0), 1],
    ['maxLength greater than possible', 'self.all(x, x == 0.0)', array(number, 3 * 1024 * 2048), 25_165_826],
    [
      'nested types',
      'self.all(x, x["y"].required == "z")',
      array(map(object({ required: text(STRING_MAX), optional: text(STRING_MAX) }), 10), 10),
      72,
    ],
    ['array of number maps with all', 'self.all(x, x.y == 25.2)', array(map(number, 12), 12), 74],
    ['index of array of number maps', 'self[0].x > 2.0', array(map(number, 3000), 3000), 4],
  ])('%s', (_, rule, self, cost) => {
    expect(estimate(rule, self)).toBe(cost);
  });

  it('an unknown size is unbounded', () => {
    const compiled = compile(
      'self.all(x, true)',
      kubernetesEnvironment({ variables: { self: listOf(DOUBLE) } }),
    );
    expect(compiled.kind === 'program' && estimateCost(compiled.program).max).toBe(2 ** 64);
  });
});
