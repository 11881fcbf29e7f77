import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { boundedYaml } from './yamlLimits.ts';

const read = (text: string): unknown => boundedYaml(parseDocument(text, { merge: true })).toJS();

/** Each level repeats the previous one nine times. */
function aliases(levels: number): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i <= levels; i++)
    lines.push(
      `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return lines.join('\n');
}

describe('YAML aliases', () => {
  test('repeat the content of their anchor', () => {
    expect(read('a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}')).toEqual({
      a: { b: 1 },
      c: { b: 1 },
      d: { b: 1, e: 2 },
    });
  });

  test.each([
    ['that multiply', aliases(6)],
    ['of one long list', `a: &a [${'x, '.repeat(999)}x]\nb: [${'*a, '.repeat(11)}x]`],
    ['in maps', `a: &a {b: c, d: e}\n${Array.from({ length: 4000 }, (_, i) => `k${i}: *a`).join('\n')}`],
    ['in keys', `a: &a [${'x, '.repeat(999)}x]\n${'? *a\n: b\n'.repeat(11)}`],
  ])('%s are rejected before they are built', (_, text) => {
    expect(() => read(text)).toThrow('aliases expand to more than 10000 nodes');
  });

  test('inside their own anchor are rejected', () => {
    expect(() => read('a: &a [b, *a]')).toThrow('alias a refers to itself');
  });

  test('without an anchor are reported by the parser', () => {
    expect(() => read('a: *b')).toThrow(/Unresolved alias/);
  });

  test('to an anchor that is set twice count the last one', () => {
    expect(read('a: &x 1\nb: &x [2]\nc: *x')).toEqual({ a: 1, b: [2], c: [2] });
  });
});
