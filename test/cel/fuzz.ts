// Random programs through the engine and the tree walker: same value, or an error on both sides; cost within the
// budget; time on the thread within bounds.

import { type Random, seededRandom } from '@lapse/base/random';
import {
  BOOL,
  compile,
  conditionEnvironment,
  INT,
  listOf,
  mapOf,
  PER_CALL_LIMIT,
  STRING,
} from '@lapse/cel/cel';
import { type Generated, Generator, VARIABLES } from './generator.ts';
import { encode, encodeDouble } from './specValues.ts';
import { type Ref, type Scope, walk } from './treeWalker.ts';

export const BINDINGS = Object.fromEntries(Object.entries(VARIABLES).map(([name, { json }]) => [name, json]));
const SCOPE: Scope = new Map(Object.entries(VARIABLES).map(([name, { ref }]) => [name, ref]));

export const TYPES = {
  i: INT,
  s: STRING,
  b: BOOL,
  li: listOf(INT),
  ls: listOf(STRING),
  m: mapOf(STRING, INT),
};

export interface FuzzReport {
  readonly programs: number;
  /** How many programs failed at run time, on both sides. */
  readonly errors: number;
  readonly disagreements: readonly string[];
  readonly overspent: readonly string[];
  /** The longest an evaluation held the thread, in milliseconds of CPU time. */
  readonly longest: number;
}

export function* generate(seed: number, count: number): IterableIterator<Generated> {
  const random: Random = seededRandom(seed);
  for (let i = 0; i < count; i++) yield new Generator(random).program();
}

export function fuzz(seed: number, count: number): FuzzReport {
  const disagreements: string[] = [];
  const overspent: string[] = [];
  let errors = 0;
  let longest = 0;
  let programs = 0;
  // A new environment from time to time, so that the cache of programs is both hit and missed.
  let env = conditionEnvironment(TYPES);
  for (const { text, tree } of generate(seed, count)) {
    if (programs++ % 5000 === 0) env = conditionEnvironment(TYPES);
    const compiled = compile(text, env);
    if (compiled.kind === 'invalid') {
      disagreements.push(`${text}\n  does not compile: ${compiled.message}`);
      continue;
    }
    const start = process.threadCpuUsage();
    const outcome = compiled.program.evaluate(BINDINGS);
    const spent = process.threadCpuUsage(start);
    longest = Math.max(longest, (spent.user + spent.system) / 1000);
    if (outcome.cost > PER_CALL_LIMIT * 1.01) overspent.push(text);
    const ours = outcome.kind === 'value' ? JSON.stringify(encode(outcome.value)) : outcome.kind;
    const theirs = encodeRef(walk(tree, SCOPE));
    if (theirs === 'error') errors++;
    if (ours !== theirs) disagreements.push(`${text}\n  engine: ${ours}\n  tree walker: ${theirs}`);
  }
  return { programs, errors, disagreements, overspent, longest };
}

/** A result of the tree walker in the form in which results are compared. */
function encodeRef(r: Ref): string {
  return r.t === 'error' ? 'error' : JSON.stringify(plain(r));
}

function plain(r: Ref): unknown {
  switch (r.t) {
    case 'error':
    case 'null':
      return { null: true };
    case 'bool':
      return { bool: r.v };
    case 'double':
      return { double: encodeDouble(r.v) };
    case 'string':
      return { string: r.v.join('') };
    case 'list':
      return { list: r.v.map(plain) };
    case 'map':
      return { map: r.v.map(([k, v]) => [plain(k), plain(v)]) };
    case 'timestamp': {
      const second = 1_000_000_000n;
      const rest = ((r.v % second) + second) % second;
      return { timestamp: `${(r.v - rest) / second}.${String(rest).padStart(9, '0')}` };
    }
    default:
      return { [r.t]: String(r.v) };
  }
}
