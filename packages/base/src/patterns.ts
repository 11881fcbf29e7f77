// Regular expressions with RE2's syntax and its promise: time linear in the text, whatever the pattern. Patterns come
// from users, so each is measured before it is compiled, and what the process keeps of all of them together is bounded.

import { RE2JS } from 're2js';
import { estimatePatternSize } from './patternSize.ts';

/** The largest pattern that is compiled, in the units of patternSize.ts: about 5 MB and 60 ms. */
export const MAX_PATTERN_SIZE = 20_000;
/** What compiled patterns of the whole process may take together: about 32 MB. */
export const MAX_KEPT_SIZE = 128_000;
/** States that one pattern keeps of earlier matches, in bytes; more of them only save time. */
const MAX_STATE_BYTES = 256 * 1024;
const BYTES_PER_UNIT = 250;

export type CompiledPattern =
  | { readonly kind: 'pattern'; readonly regexp: RE2JS; readonly size: number }
  | { readonly kind: 'invalid'; readonly message: string };

interface Kept {
  readonly compiled: CompiledPattern;
  /** As counted in the total; it grows with the states of earlier matches. */
  size: number;
}

/** Patterns used lately, by their text, up to a total size. */
export class Patterns {
  readonly #kept = new Map<string, Kept>();
  readonly #most: number;
  #total = 0;

  constructor(most: number = MAX_KEPT_SIZE) {
    this.#most = most;
  }

  /** Units that all kept patterns take together. */
  get size(): number {
    return this.#total;
  }

  /**
   * The compiled pattern, or what is wrong with it. `beforeCompiling` gets the estimated size of a pattern that is not
   * kept, and may throw to prevent compiling it.
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

  /** The pattern used last is the last to be dropped; its states are counted again. */
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

/** The library would keep states of 8 MiB for each pattern that needs them. */
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

/** The patterns of this process. */
const shared = new Patterns();

/** The compiled pattern, or what is wrong with it, from the patterns of this process. */
export const compilePattern = (pattern: string, beforeCompiling?: (size: number) => void): CompiledPattern =>
  shared.compile(pattern, beforeCompiling);
