// Patterns are RE2, as in Go.

import { estimatePatternSize } from '@lapse/base/patternSize';
import { compilePattern, MAX_PATTERN_SIZE } from '@lapse/base/patterns';
import { isObject, type Json } from '@lapse/kube/api/json';

/** Limit for all patterns of one schema together: about 120 ms of compile time. */
const MAX_SCHEMA_SIZE = 2 * MAX_PATTERN_SIZE;

/** The error for patterns that are too large to compile; undefined when they are within the limit. */
export function patternSizeProblem(schema: Json): string | undefined {
  const patterns = new Set<string>();
  collectPatterns(schema, patterns);
  let total = 0;
  for (const pattern of patterns) total += estimatePatternSize(pattern);
  if (total <= MAX_SCHEMA_SIZE) return undefined;
  return `must be smaller: the patterns of the schema compile to up to ${total} instructions, the limit is ${MAX_SCHEMA_SIZE}`;
}

function collectPatterns(schema: Json | undefined, into: Set<string>): void {
  if (Array.isArray(schema)) for (const item of schema) collectPatterns(item, into);
  else if (isObject(schema)) {
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'pattern' && typeof value === 'string') into.add(value);
      else collectPatterns(value, into);
    }
  }
}

/** The error of an invalid pattern in a CRD; undefined when it is valid or absent. */
export function patternProblem(pattern: Json | undefined): string | undefined {
  if (typeof pattern !== 'string' || pattern === '') return undefined;
  const compiled = compilePattern(pattern);
  if (compiled.kind === 'pattern') return undefined;
  const { message } = compiled;
  // Go prints the (empty) rest of the expression here, too.
  const text = message.endsWith('at end of expression') ? `${message}: \`\`` : message;
  return `must be a valid regular expression, but isn't: ${text}`;
}
