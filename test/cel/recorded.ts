// Programs with the results of cel-go, configured as in Kubernetes 1.36: value or error, cost, estimate, type, and the
// text of compile errors. Run this file to record the results again (needs Go).

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Bindings,
  BOOL,
  type CelType,
  compile,
  DOUBLE,
  DURATION,
  DYN,
  estimateCost,
  formatType,
  INT,
  kubernetesEnvironment,
  listOf,
  mapOf,
  parseDuration,
  parseTimestamp,
  STRING,
  TIMESTAMP,
} from '@lapse/cel/cel';
import { type CelGoResult, evaluateWithCelGo } from './celgo.ts';
import { encode } from './specValues.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const RESULTS = join(FIXTURES, 'celgo-results.json');

const TYPES: Readonly<Record<string, readonly [name: string, type: CelType]>> = {
  i: ['int', INT],
  s: ['string', STRING],
  b: ['bool', BOOL],
  d: ['double', DOUBLE],
  li: ['list(int)', listOf(INT)],
  ls: ['list(string)', listOf(STRING)],
  x: ['dyn', DYN],
  m: ['map(string, int)', mapOf(STRING, INT)],
  t: ['timestamp', TIMESTAMP],
  u: ['duration', DURATION],
  self: ['dyn', DYN],
};

const PLAIN = {
  i: 7,
  s: 'hello world, this is text',
  b: true,
  li: [3, 1, 2],
  ls: ['b', 'a', 'ccccccccccccccccccccc'],
  x: { a: [1, 2, { b: 'c' }], n: null, f: 1.5, s: 'str', m: { k: 1 } },
  m: { a: 1, b: 2 },
  self: { foo: 3 },
};
const TIME = '2023-01-02T03:04:05.123456789Z';
const BINDINGS: Bindings = { ...PLAIN, d: 2.5, t: parseTimestamp(TIME), u: parseDuration('1h30m') };
const WIRE_BINDINGS = { ...PLAIN, d: { $double: '2.5' }, t: { $timestamp: TIME }, u: { $duration: '1h30m' } };

const env = kubernetesEnvironment({
  variables: Object.fromEntries(Object.entries(TYPES).map(([name, [, type]]) => [name, type])),
});

export const expressions = (): string[] =>
  readFileSync(join(FIXTURES, 'expressions.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('\\n', '\n'));

export const recordedResults = (): ReadonlyMap<string, CelGoResult> =>
  new Map(JSON.parse(readFileSync(RESULTS, 'utf8')) as [string, CelGoResult][]);

export function freshResults(): Map<string, CelGoResult> {
  const texts = expressions();
  const vars = Object.fromEntries(Object.entries(TYPES).map(([name, [shown]]) => [name, shown]));
  const results = evaluateWithCelGo(texts.map((expr) => ({ expr, vars, bindings: WIRE_BINDINGS })));
  return new Map(texts.map((expr, i) => [expr, results[i]!]));
}

/** The result of the engine to the same program, in the same form. */
export function engineResult(expr: string): CelGoResult {
  const compiled = compile(expr, env);
  if (compiled.kind === 'invalid') return { compile: compiled.message };
  const { program } = compiled;
  const { min, max } = estimateCost(program);
  const rest = { type: formatType(program.type), min: String(min), max: String(max) };
  const outcome = program.evaluate(BINDINGS);
  if (outcome.kind === 'value') return { value: encode(outcome.value), cost: outcome.cost, ...rest };
  return { error: outcome.message, cost: outcome.cost, ...rest };
}

/** Doubles are written differently; estimates beyond 2^53 are not exact here. */
export function comparable(result: CelGoResult): unknown {
  const rough = (n: string | undefined) => (n === undefined ? undefined : Number(n).toPrecision(12));
  return { ...result, value: plainDoubles(result.value), min: rough(result.min), max: rough(result.max) };
}

function plainDoubles(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(plainDoubles);
  if (typeof v !== 'object' || v === null) return v;
  const entries = Object.entries(v).map(([k, e]) => [
    k,
    k === 'double' ? String(Number(e)) : plainDoubles(e),
  ]);
  return Object.fromEntries(entries);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const lines = [...freshResults()].map((entry) => JSON.stringify(entry));
  writeFileSync(RESULTS, `[\n${lines.join(',\n')}\n]\n`);
}
