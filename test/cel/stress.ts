// node test/cel/stress.ts SEED COUNT: random programs as the bodies of endless loops, which the budget has to stop. A
// separate process, because a test runner would rewrite the measured engine. Prints a report as JSON.

import { fileURLToPath } from 'node:url';
import { compile, conditionEnvironment, PER_CALL_LIMIT, type Program } from '@lapse/cel/cel';
import { BINDINGS, generate, TYPES } from './fuzz.ts';

export interface StressReport {
  readonly programs: number;
  readonly exhausted: number;
  readonly overspent: readonly string[];
  /** The longest time that a program blocked the thread, in milliseconds of its CPU time. */
  readonly longest: number;
  readonly slowest: string;
}

const PATIENCE = 50;

function once(program: Program): number {
  const start = process.threadCpuUsage();
  program.evaluate(BINDINGS);
  const spent = process.threadCpuUsage(start);
  return (spent.user + spent.system) / 1000;
}

/** The best of three if the first was slow: garbage collection or another process may have caused it. */
function millisOf(program: Program): number {
  const first = once(program);
  return first < PATIENCE ? first : Math.min(first, once(program), once(program));
}

function stress(seed: number, count: number): StressReport {
  const env = conditionEnvironment(TYPES);
  const overspent: string[] = [];
  let [programs, exhausted, longest, slowest] = [0, 0, 0, ''];
  for (const { text } of generate(seed, count)) {
    const looped = `lists.range(3000).all(z1, lists.range(3000).all(z2, dyn(${text}) == z1 || true))`;
    const compiled = compile(looped, env);
    // Deep programs become too deep inside the loops.
    if (compiled.kind === 'invalid') continue;
    programs++;
    const outcome = compiled.program.evaluate(BINDINGS);
    if (outcome.kind === 'exhausted') exhausted++;
    if (outcome.cost > PER_CALL_LIMIT * 1.01) overspent.push(text);
    const millis = millisOf(compiled.program);
    if (millis > longest) [longest, slowest] = [millis, text];
  }
  return { programs, exhausted, overspent, longest, slowest };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [seed, count] = process.argv.slice(2).map(Number);
  process.stdout.write(JSON.stringify(stress(seed ?? 1, count ?? 1000)));
}
