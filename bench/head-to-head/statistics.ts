// Quantiles of a sample, by the nearest rank.

export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)]!;
}

export interface Spread {
  readonly p50: number;
  readonly p99: number;
  /** How many of the expected values are in the sample. */
  readonly count: number;
  readonly expected: number;
}

/** A missing value counts as later than any other. */
export function spreadOf(values: readonly number[], expected: number): Spread {
  const missing = Array.from({ length: expected - values.length }, () => Number.POSITIVE_INFINITY);
  const all = [...values, ...missing];
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99), count: values.length, expected };
}
