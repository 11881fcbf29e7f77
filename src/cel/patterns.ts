// Regular expressions with RE2's syntax and its promise: time linear in the text, whatever the pattern.
// Compiled patterns are kept; compiling and matching are charged as work, because the cost model rates a match that
// takes half a microsecond the same as an addition.

import { RE2JS } from 're2js';
import type { Frame } from './frame.ts';
import { Failure, fail, type Value } from './values.ts';

const MAX_KEPT = 256;
const COMPILE_WORK = 3000;
const COMPILE_WORK_PER_CHARACTER = 100;
const COMPILE_WORK_PER_INSTRUCTION = 250;
const MATCH_WORK = 100;

const kept = new Map<string, RE2JS | string>();

/** The compiled pattern, or what is wrong with it. Patterns used lately are kept. */
export function compilePattern(pattern: string, f?: Frame): RE2JS | string {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  f?.work(COMPILE_WORK + pattern.length * COMPILE_WORK_PER_CHARACTER);
  const compiled = tryCompile(pattern);
  if (typeof compiled !== 'string') f?.work(compiled.programSize() * COMPILE_WORK_PER_INSTRUCTION);
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value!);
  kept.set(pattern, compiled);
  return compiled;
}

function tryCompile(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (e) {
    return e instanceof Error ? e.message : String(e);
  }
}

/** The pattern, charged for use on a text of this length; an error when it is no pattern. */
export function patternFor(pattern: string, textLength: number, f: Frame): RE2JS | Failure {
  const compiled = compilePattern(pattern, f);
  f.work(MATCH_WORK + textLength);
  return typeof compiled === 'string' ? fail(compiled) : compiled;
}

/** True when the pattern matches anywhere in the text. */
export function matches(text: Value, pattern: Value, f: Frame): Value | undefined {
  if (typeof text !== 'string' || typeof pattern !== 'string') return undefined;
  const compiled = patternFor(pattern, text.length, f);
  return compiled instanceof Failure ? compiled : compiled.test(text);
}
