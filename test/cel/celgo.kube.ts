// Compares the engine with cel-go: the recorded results are still current, and 5,000 random programs give the same
// value, or an error on both sides, at the same cost. Needs Go.

import { BOOL, compile, INT, kubernetesEnvironment, listOf, mapOf, STRING } from '@lapse/cel/cel';
import { BINDINGS as BIND } from '@lapse/cel/lib/small';
import { describe, expect, it } from 'vitest';
import { type CelGoResult, evaluateWithCelGo } from './celgo.ts';
import { BINDINGS, generate } from './fuzz.ts';
import { VARIABLES } from './generator.ts';
import { comparable, freshResults, recordedResults } from './recorded.ts';
import { encode } from './specValues.ts';

const SEED = Number(process.env.SEED ?? 36);
const COUNT = 5000;

const variables = { i: INT, s: STRING, b: BOOL, li: listOf(INT), ls: listOf(STRING), m: mapOf(STRING, INT) };
const env = kubernetesEnvironment({ variables, more: [BIND] });

// Field names as read by the Go program.
const VARS = Object.fromEntries(
  Object.entries(VARIABLES).map(([name, { type }]) => [
    name,
    type === 'map(int)' ? 'map(string, int)' : type,
  ]),
);

interface Outcome {
  readonly value: unknown;
  readonly cost: number | undefined;
}

const ERROR = 'error';

function ours(text: string): Outcome {
  const compiled = compile(text, env);
  if (compiled.kind === 'invalid') return { value: ERROR, cost: undefined };
  const outcome = compiled.program.evaluate(BINDINGS);
  return { value: outcome.kind === 'value' ? encode(outcome.value) : ERROR, cost: outcome.cost };
}

const theirs = (result: CelGoResult): Outcome => ({ value: result.value ?? ERROR, cost: result.cost });

describe('cel-go', () => {
  it('still returns what was recorded', () => {
    const fresh = [...freshResults()].map(([expr, result]) => [expr, comparable(result)]);
    const recorded = [...recordedResults()].map(([expr, result]) => [expr, comparable(result)]);
    expect(fresh).toEqual(recorded);
  });

  it(`agrees on ${COUNT} random programs`, () => {
    const texts = [...generate(SEED, COUNT)].map((g) => g.text);
    const results = evaluateWithCelGo(
      texts.map((expr) => ({ expr, vars: VARS, bindings: BINDINGS, extensions: true })),
    );
    const differences: unknown[] = [];
    let values = 0;
    for (const [i, text] of texts.entries()) {
      const a = ours(text);
      const b = theirs(results[i]!);
      if (b.value !== ERROR) values++;
      const sameValue =
        JSON.stringify(comparable({ value: a.value })) === JSON.stringify(comparable({ value: b.value }));
      // Characters beyond U+FFFF cost double here; see sizes.ts. Errors may end an evaluation at another point.
      const plain = !text.includes('😀') && !/\bs\b/.test(text) && b.value !== ERROR;
      if (!sameValue || (plain && a.cost !== b.cost)) differences.push({ text, ours: a, celGo: results[i] });
    }
    expect(differences.slice(0, 5)).toEqual([]);
    expect(values).toBeGreaterThan(COUNT / 2);
  });
});
