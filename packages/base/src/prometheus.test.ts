import { describe, expect, test } from 'vitest';
import { formatMetrics, Histogram } from './prometheus.ts';

describe('the text format', () => {
  test('escapes special characters', () => {
    const sample = { labels: { path: 'a"b\\c\nd' }, value: 1 };
    expect(formatMetrics([{ name: 'm', help: 'one\ntwo\\', type: 'gauge', samples: [sample] }])).toBe(
      '# HELP m one\\ntwo\\\\\n# TYPE m gauge\nm{path="a\\"b\\\\c\\nd"} 1\n',
    );
  });

  test('keeps the order of families and writes infinity as Prometheus does', () => {
    const family = (name: string, value: number) => ({
      name,
      help: 'h',
      type: 'gauge' as const,
      samples: [{ value }],
    });
    const names = formatMetrics([family('b', Infinity), family('a', -0.5)]).match(/^\w.*$/gm);
    expect(names).toEqual(['b +Inf', 'a -0.5']);
  });

  test('counts each observation of a histogram in every bucket that includes it', () => {
    const histogram = new Histogram([0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value);
    expect([...histogram.samples({})].map((s) => [s.suffix, s.labels?.['le'], s.value])).toEqual([
      ['_bucket', '0.1', 2],
      ['_bucket', '1', 3],
      ['_bucket', '+Inf', 4],
      ['_sum', undefined, 7.65],
      ['_count', undefined, 4],
    ]);
  });
});
