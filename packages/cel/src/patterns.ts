// Charges work for compiling and matching regular expressions. The cost model rates a match of half a microsecond like
// an addition, and ignores the compiled size of a pattern.

import { estimatePatternSize } from '@lapse/base/patternSize';
import { compilePattern } from '@lapse/base/patterns';
import type { RE2JS } from 're2js';
import { type Call, type Expr, walk } from './ast.ts';
import { BudgetExceeded, type Frame } from './frame.ts';
import { type Issue, Problems, type Source } from './source.ts';
import { Failure, fail, type Value } from './values.ts';

const COMPILE_WORK = 3000;
const COMPILE_WORK_PER_UNIT = 150;
const MATCH_WORK = 100;
/** Instructions that process one character in one unit of work. */
const INSTRUCTIONS_PER_WORK = 8;

/** Functions whose second argument is a pattern. A receiver counts as the first argument. */
const PATTERN_FUNCTIONS = new Set([
  'matches',
  'find',
  'findAll',
  'regex.extract',
  'regex.extractAll',
  'regex.replace',
]);

/**
 * Reports patterns of a checked tree that are too large, alone or together. It only estimates their size and compiles
 * nothing.
 */
export function validatePatternSizes(root: Expr, source: Source, most: number): Issue[] {
  const problems = new Problems(source);
  const seen = new Set<string>();
  let total = 0;
  for (const e of walk(root)) {
    const pattern = e.kind === 'call' ? literalPattern(e) : undefined;
    if (pattern === undefined || seen.has(pattern.text)) continue;
    seen.add(pattern.text);
    const size = estimatePatternSize(pattern.text);
    total += size;
    if (total <= most) continue;
    const whose = size > most ? 'this pattern compiles' : 'the patterns up to here compile';
    const message = `regular expression too large: ${whose} to up to ${total} instructions, the limit is ${most}`;
    problems.add(pattern.at, message);
    return problems.list;
  }
  return problems.list;
}

function literalPattern(e: Call): { readonly text: string; readonly at: number } | undefined {
  const name = e.resolved ?? e.function;
  if (!PATTERN_FUNCTIONS.has(name)) return undefined;
  const [, pattern] = e.resolved === undefined && e.target !== undefined ? [e.target, ...e.args] : e.args;
  if (pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return undefined;
  return { text: pattern.value, at: pattern.at };
}

/** The error of a pattern, or undefined if it is valid. */
export function patternProblem(pattern: string): string | undefined {
  const compiled = compilePattern(pattern);
  return compiled.kind === 'invalid' ? compiled.message : undefined;
}

/** The compiled pattern, charged for use on a text of this length. An error if the pattern is invalid. */
export function patternFor(pattern: string, textLength: number, f: Frame): RE2JS | Failure {
  const compiled = compilePattern(pattern, (size) => chargeCompiling(size, f));
  if (compiled.kind === 'invalid') return fail(compiled.message);
  const { regexp } = compiled;
  f.work(MATCH_WORK + textLength * (1 + regexp.programSize() / INSTRUCTIONS_PER_WORK));
  return regexp;
}

/** Must be called before compiling. */
function chargeCompiling(size: number, f: Frame): void {
  f.work(COMPILE_WORK + size * COMPILE_WORK_PER_UNIT);
  f.patternSize += size;
  if (f.patternSize > f.maxPatternSize) throw new BudgetExceeded(f.cost);
}

/** Whether the pattern matches anywhere in the text. */
export function matches(text: Value, pattern: Value, f: Frame): Value | undefined {
  if (typeof text !== 'string' || typeof pattern !== 'string') return undefined;
  const compiled = patternFor(pattern, text.length, f);
  return compiled instanceof Failure ? compiled : compiled.test(text);
}
