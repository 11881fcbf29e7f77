import { describe, expect, test } from 'vitest';
import { Registry } from './registry.ts';

describe('Registry', () => {
  test('exports counters and gauges without labels from the start', () => {
    const registry = new Registry();
    registry.counter('a_total', 'How many.');
    registry.gauge('b', 'How much.').with().set(2.5);
    expect(registry.text()).toBe(
      '# HELP a_total How many.\n# TYPE a_total counter\na_total 0\n# HELP b How much.\n# TYPE b gauge\nb 2.5\n',
    );
  });

  test('exports a child at zero after its first use', () => {
    const registry = new Registry();
    const family = registry.counter('a_total', 'x', ['controller', 'result']);
    family.with('ttl', 'success');
    family.with('ttl', 'error').inc(3);
    family.with('ttl', 'error').inc();
    expect(registry.text()).toContain(
      'a_total{controller="ttl",result="success"} 0\na_total{controller="ttl",result="error"} 4\n',
    );
  });

  test('exports cumulative histograms with +Inf, sum and count, and includes the bound in its bucket', () => {
    const registry = new Registry();
    const seconds = registry.histogram('h', 'x', ['q'], [1, 2]).with('a');
    for (const value of [0.5, 1, 1.5, 99]) seconds.observe(value);
    expect(registry.text()).toContain(
      'h_bucket{q="a",le="1"} 2\nh_bucket{q="a",le="2"} 3\nh_bucket{q="a",le="+Inf"} 4\nh_sum{q="a"} 102\nh_count{q="a"} 4\n',
    );
  });

  test('reads collected values at each scrape', () => {
    const registry = new Registry();
    let depth = 1;
    registry.gauge('depth', 'x', ['name']).collect(() => [[['q'], depth]]);
    expect(registry.text()).toContain('depth{name="q"} 1\n');
    depth = 7;
    expect(registry.text()).toContain('depth{name="q"} 7\n');
  });

  test('exports one value for a collected gauge without labels', () => {
    const registry = new Registry();
    registry.gauge('depth', 'x').collect(() => [[[], 4]]);
    expect(registry.text().match(/^depth /gm)).toHaveLength(1);
  });

  test('escapes label values', () => {
    const registry = new Registry();
    registry.counter('a_total', 'line\nbreak \\', ['x']).with('a"b\\c\nd').inc();
    expect(registry.text()).toBe(
      '# HELP a_total line\\nbreak \\\\\n# TYPE a_total counter\na_total{x="a\\"b\\\\c\\nd"} 1\n',
    );
  });

  test('returns the same metric for the same name and rejects another type or other labels', () => {
    const registry = new Registry();
    registry.counter('a_total', 'x', ['q']).with('1').inc();
    registry.counter('a_total', 'x', ['q']).with('1').inc();
    expect(registry.text()).toContain('a_total{q="1"} 2\n');
    expect(() => registry.gauge('a_total', 'x', ['q'])).toThrow(
      /already registered with another type or other labels/,
    );
    expect(() => registry.counter('a_total', 'x', ['r'])).toThrow(
      /already registered with another type or other labels/,
    );
  });

  test('rejects a wrong number of labels and does not export a removed child', () => {
    const registry = new Registry();
    const family = registry.counter('a_total', 'x', ['q']);
    expect(() => family.with()).toThrow(/has the labels q/);
    family.with('gone').inc();
    family.remove('gone');
    expect(registry.text()).not.toContain('gone');
  });

  test('formats infinite values as Prometheus does', () => {
    const registry = new Registry();
    registry.gauge('g', 'x').with().set(Number.NEGATIVE_INFINITY);
    expect(registry.text()).toContain('g -Inf\n');
  });
});
