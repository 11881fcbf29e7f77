// Compiles regular expressions with RE2 syntax and linear match time. Patterns come from users, so each is measured
// before it is compiled, and the total memory of cached patterns is bounded.

import { RE2JS } from 're2js';
import { estimatePatternSize } from './patternSize.ts';

/** The largest pattern that is compiled, in units of patternSize.ts: about 5 MB and 60 ms. */
export const MAX_PATTERN_SIZE = 20_000;
/** The maximum total size of all cached patterns in the process: about 32 MB. */
export const MAX_KEPT_SIZE = 128_000;
/** Bytes of automaton states that one pattern may cache between matches. The cache only saves time. */
const MAX_STATE_BYTES = 256 * 1024;
const BYTES_PER_UNIT = 250;

export type CompiledPattern =
  | { readonly kind: 'pattern'; readonly regexp: RE2JS; readonly size: number }
  | { readonly kind: 'invalid'; readonly message: string };

interface Kept {
  readonly compiled: CompiledPattern;
  /** The size as counted in the total. It grows with the cached automaton states. */
  size: number;
}

/** An LRU cache of compiled patterns by their text, bounded by total size. */
export class Patterns {
  readonly #kept = new Map<string, Kept>();
  readonly #most: number;
  #total = 0;

  constructor(most: number = MAX_KEPT_SIZE) {
    this.#most = most;
  }

  /** The total size of all cached patterns, in units. */
  get size(): number {
    return this.#total;
  }

  /**
   * The compiled pattern, or its error. `beforeCompiling` receives the estimated size of a pattern that is not cached,
   * and may throw to prevent compiling it.
   */
  compile(pattern: string, beforeCompiling?: (size: number) => void): CompiledPattern {
    const known = this.#kept.get(pattern);
    if (known !== undefined) return this.#used(pattern, known);
    const size = estimatePatternSize(pattern);
    if (size > MAX_PATTERN_SIZE) return { kind: 'invalid', message: tooLarge(size) };
    beforeCompiling?.(size);
    const compiled = tryCompile(pattern, size);
    this.#keep(pattern, { compiled, size });
    return compiled;
  }

  /** Marks the pattern as most recently used and measures its states again. */
  #used(pattern: string, kept: Kept): CompiledPattern {
    this.#kept.delete(pattern);
    this.#total -= kept.size;
    this.#keep(pattern, { compiled: kept.compiled, size: currentSize(kept) });
    return kept.compiled;
  }

  #keep(pattern: string, kept: Kept): void {
    for (const [oldest, { size }] of this.#kept) {
      if (this.#total + kept.size <= this.#most) break;
      this.#kept.delete(oldest);
      this.#total -= size;
    }
    this.#kept.set(pattern, kept);
    this.#total += kept.size;
  }
}

function currentSize({ compiled, size }: Kept): number {
  if (compiled.kind === 'invalid') return size;
  const states = compiled.regexp.re2().lazyDFA;
  return compiled.size + (states === null ? 0 : (states.stateBudget - states.memBudget) / BYTES_PER_UNIT);
}

function tryCompile(pattern: string, size: number): CompiledPattern {
  try {
    const regexp = RE2JS.compile(pattern);
    boundStates(regexp);
    return { kind: 'pattern', regexp, size };
  } catch (e) {
    return { kind: 'invalid', message: e instanceof Error ? e.message : String(e) };
  }
}

/** By default the library keeps up to 8 MiB of states per pattern. */
function boundStates(regexp: RE2JS): void {
  const re2 = regexp.re2();
  if (re2.onepass !== null) return;
  const { dfa } = re2;
  dfa.maxMem = MAX_STATE_BYTES;
  dfa.stateBudget = MAX_STATE_BYTES;
  dfa.memBudget = MAX_STATE_BYTES;
}

const tooLarge = (size: number): string =>
  `error parsing regexp: expression too large: it compiles to up to ${size} instructions, the limit is ${MAX_PATTERN_SIZE}`;

/** The cache shared by the process. */
const shared = new Patterns();

/** The compiled pattern, or its error, from the shared cache. */
export const compilePattern = (pattern: string, beforeCompiling?: (size: number) => void): CompiledPattern =>
  shared.compile(pattern, beforeCompiling);
