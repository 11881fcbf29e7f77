// The estimate is an upper bound of the size the library compiles, and close to it for common patterns.

import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it, test } from 'vitest';
import { estimatePatternSize } from './patternSize.ts';

const compiledSize = (pattern: string): number | undefined => {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch {
    return undefined;
  }
};

describe('estimatePatternSize', () => {
  test.each([
    ['abc'],
    ['a|b|c|'],
    ['(a*)*(b+)?'],
    ['((((a?)?)?)?)?'],
    ['[a-z0-9]([-a-z0-9]*[a-z0-9])?'],
    ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'],
    ['a{1000}'],
    ['(a{30}){30}'],
    ['(?:a?b?c?){300}'],
    ['(?P<name>a{3,}){7}'],
    ['(?<name>ab){5,9}'],
    ['(?i:a{100}|b)'],
    ['(?i)a{100}'],
    ['\\Q(a{1000})*\\E'],
    ['\\x{1F600}{100}'],
    ['[]{1000}]{10}'],
    ['[^]a[:alpha:]]{100}'],
    ['[\\]{1000}]{10}'],
    ['\\p{Greek}{100}'],
    ['[[a]{1000}'],
    ['(|a){1000}'],
    ['\\b{1000}'],
    ['{1000}'],
    ['a{1000}{1000'],
    ['a{0,1000}?'],
    ['a{0}'],
    ['x{,1000}'],
  ])('%s is not underestimated', (pattern) => {
    expect(estimatePatternSize(pattern)).toBeGreaterThanOrEqual(compiledSize(pattern) ?? 0);
  });

  it('is an upper bound for any pattern that compiles', () => {
    const part = fc.constantFrom(
      ...[
        'a',
        'bc',
        '.',
        '|',
        '(',
        ')',
        '(?:',
        '(?i)',
        '(?i:',
        '(?P<n>',
        '[',
        ']',
        '[^',
        '-',
        '^',
        '$',
        '\\b',
      ],
      ...['*', '+', '?', '{2}', '{0,3}', '{3,}', '{12}', '{', '}', ',', '\\pL', '\\p{Greek}', '\\Q', '\\E'],
      ...[
        '\\x{41}',
        '\\]',
        '\\[',
        '[:alpha:]',
        '[a-f]',
        '[[:digit:]x]',
        '[\\d\\]]',
        '\\d',
        '\\\\',
        '😀',
        'é',
      ],
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 14 }), (parts) => {
        const pattern = parts.join('');
        const size = compiledSize(pattern);
        if (size !== undefined) expect(estimatePatternSize(pattern)).toBeGreaterThanOrEqual(size);
      }),
      { numRuns: 3000, seed: 16 },
    );
  });

  test.each([
    ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$', 60],
    ['^\\d{4}-\\d{2}-\\d{2}T', 30],
    ['^(sha256:)?[0-9a-f]{64}$', 220],
    ['^[\\p{L}\\p{N}]{1,64}$', 4500],
  ])('%s is estimated as small', (pattern, most) => {
    expect(estimatePatternSize(pattern)).toBeLessThan(most);
  });

  test.each([
    ['nested repeats', '(?:(?:a?b?c?d?e?f?){30}){33}', 12_000],
    ['many Unicode classes', '\\pL'.repeat(500), 50_000],
    ['Unicode classes in one class', `[${'\\PL'.repeat(500)}]`, 50_000],
    ['wide case-insensitive ranges', '(?i)[B-\\x{1E942}]'.repeat(10), 80_000],
    ['wide case-insensitive ranges of plain characters', '(?i)[B-\u{ffff}]'.repeat(10), 40_000],
  ])('%s are estimated close to their real size', (_, pattern, least) => {
    expect(estimatePatternSize(pattern)).toBeGreaterThan(least);
  });

  it('takes time linear in the pattern', () => {
    for (const hostile of ['(', '[', '[[:', '\\p{', '{1', '(?P<', '(?i', '\\Q', 'a{9}', '\\x{']) {
      expect(estimatePatternSize(hostile.repeat(20_000))).toBeGreaterThan(0);
    }
  });
});
