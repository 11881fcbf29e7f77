// Ranges of sizes and costs, from minimum to maximum, with arithmetic that saturates at 2^64.

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The saturation value; cel-go uses the largest uint64. */
export const MOST = 2 ** 64;

const cap = (n: number): number => Math.min(n, MOST);

export const range = (min: number, max: number = min): Range => ({ min: cap(min), max: cap(max) });
export const UNKNOWN: Range = range(0, MOST);
export const NOTHING: Range = range(0);

export const add = (...ranges: readonly Range[]): Range =>
  ranges.reduce((a, b) => range(a.min + b.min, a.max + b.max), NOTHING);

export const multiply = (a: Range, b: Range): Range => range(a.min * b.min, a.max * b.max);

/** Scaled and rounded up to whole units. */
export const scale = (a: Range, factor: number): Range =>
  range(Math.ceil(a.min * factor), Math.ceil(a.max * factor));

/** The range that covers both. */
export const union = (a: Range, b: Range): Range => range(Math.min(a.min, b.min), Math.max(a.max, b.max));
