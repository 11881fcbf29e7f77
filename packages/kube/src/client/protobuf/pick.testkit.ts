// Test kit: reduces an object to the fields of a shape.

import type { Shape } from '#api/shape';

/** The fields of `whole` that the shape names. Empty values are absent. */
export function pick(whole: unknown, shape: Shape): Record<string, unknown> {
  const from = (whole ?? {}) as Record<string, unknown>;
  const entries = Object.entries(shape).flatMap(([name, { form, shape: inner }]) => {
    const value = from[name];
    if (value === undefined || value === null || value === '') return [];
    if (form === 'one') return [[name, pick(value, inner!)] as const];
    if (form === 'many') return [[name, (value as unknown[]).map((v) => pick(v, inner!))] as const];
    return [[name, value] as const];
  });
  return Object.fromEntries(entries);
}
