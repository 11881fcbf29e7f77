// Checks the arguments of math.greatest and math.least before types are known.

import type { Expr } from './ast.ts';
import { Double, Uint } from './values.ts';

/** False for literals that are not numbers. True for numbers and all expressions that must be evaluated. */
export function isNumericLiteral(e: Expr): boolean {
  if (e.kind === 'literal') {
    const { value } = e;
    return (
      typeof value === 'number' ||
      typeof value === 'bigint' ||
      value instanceof Double ||
      value instanceof Uint
    );
  }
  return e.kind !== 'list' && e.kind !== 'map' && e.kind !== 'struct';
}
