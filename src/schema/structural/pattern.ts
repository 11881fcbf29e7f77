// Patterns are RE2, as in Go.

import { RE2JS } from 're2js';
import type { Json } from '#api/json';

/** Why a pattern cannot be used, in the words of a definition's refusal; undefined when it can, or when there is none. */
export function patternProblem(pattern: Json | undefined): string | undefined {
  if (typeof pattern !== 'string' || pattern === '') return undefined;
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    const message = (error as Error).message;
    // Go prints the (empty) rest of the expression here, too.
    const text = message.endsWith('at end of expression') ? `${message}: \`\`` : message;
    return `must be a valid regular expression, but isn't: ${text}`;
  }
}
