// The memory of cached patterns is bounded by size, not by number.

import { describe, expect, it } from 'vitest';
import { MAX_KEPT_SIZE, MAX_PATTERN_SIZE, Patterns } from './patterns.ts';

const sizes = (patterns: Patterns, pattern: string): number[] => {
  const compiled: number[] = [];
  patterns.compile(pattern, (size) => compiled.push(size));
  return compiled;
};

describe('compiled patterns', () => {
  it('are compiled once while they are cached', () => {
    const patterns = new Patterns();
    expect(sizes(patterns, 'a+')).toHaveLength(1);
    expect(sizes(patterns, 'a+')).toHaveLength(0);
  });

  it('are not compiled when they are too large', () => {
    const patterns = new Patterns();
    const pattern = '(?:abcdefghijklmnopqrstuvwxyz){1000}';
    expect(sizes(patterns, pattern)).toEqual([]);
    const compiled = patterns.compile(pattern);
    expect(compiled.kind === 'invalid' && compiled.message).toMatch(
      /^error parsing regexp: expression too large: it compiles to up to 2\d{4} instructions, the limit is 20000$/,
    );
    expect(patterns.size).toBe(0);
  });

  it('are not compiled when the caller refuses their size', () => {
    const patterns = new Patterns();
    const refuse = () => {
      throw new Error('too much');
    };
    expect(() => patterns.compile('a{500}', refuse)).toThrow('too much');
    expect(patterns.size).toBe(0);
  });

  it('evicts the least recently used pattern when the total size is reached', () => {
    const patterns = new Patterns(3000);
    for (const pattern of ['a{999}', 'b{999}', 'a{999}', 'c{999}']) patterns.compile(pattern);
    expect(patterns.size).toBeLessThanOrEqual(3000);
    expect(sizes(patterns, 'a{999}')).toHaveLength(0);
    expect(sizes(patterns, 'b{999}')).toHaveLength(1);
  });

  it('stays within the total size for a thousand different patterns', () => {
    const patterns = new Patterns();
    for (let i = 0; i < 1000; i++) patterns.compile(`x${i}[ab]{400}`);
    expect(patterns.size).toBeLessThanOrEqual(MAX_KEPT_SIZE);
    expect(patterns.size).toBeGreaterThan(MAX_KEPT_SIZE - 1000);
  });

  it('counts the automaton states that matches leave behind, and bounds them', () => {
    const patterns = new Patterns();
    const text = Array.from({ length: 20_000 }, (_, i) => 'ab'[(i * i * 7919 + (i >> 3)) & 1]).join('');
    const pattern = '(?:a|b)*a(?:a|b){12}[cd]';
    const before = patterns.compile(pattern);
    if (before.kind === 'invalid') throw new Error(before.message);
    const size = patterns.size;
    expect(before.regexp.test(text)).toBe(false);
    patterns.compile(pattern);
    expect(patterns.size).toBeGreaterThan(size + 10);
    expect(patterns.size).toBeLessThan(size + 1100);
  });

  it('reports the error of an invalid pattern and caches the error', () => {
    const patterns = new Patterns();
    const compiled = patterns.compile('a(');
    expect(compiled).toEqual({ kind: 'invalid', message: 'error parsing regexp: missing closing ): `a(`' });
    expect(sizes(patterns, 'a(')).toHaveLength(0);
  });

  it('compiles a pattern right below the limit', () => {
    const compiled = new Patterns().compile(`(?:${'a'.repeat(15)}){990}`);
    expect(compiled.kind === 'pattern' && compiled.size).toBeGreaterThan(0.85 * MAX_PATTERN_SIZE);
  });
});
