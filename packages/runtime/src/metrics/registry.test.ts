import { describe, expect, test } from 'vitest';
import { Registry } from './registry.ts';

describe('Registry', () => {
  test('counters and gauges without labels exist from the start', () => {
    const registry = new Registry();
    registry.counter('a_total', 'How many.');
    registry.gauge('b', 'How much.').with().set(2.5);
    expect(registry.text()).toBe(
      '# HELP a_total How many.\n# TYPE a_total counter\na_total 0\n# HELP b How much.\n# TYPE b gauge\nb 2.5\n',
    );
  });

  test('children appear when they are first asked for, at zero', () => {
    const registry = new Registry();
    const family = registry.counter('a_total', 'x', ['controller', 'result']);
    family.with('ttl', 'success');
    family.with('ttl', 'error').inc(3);
    family.with('ttl', 'error').inc();
    expect(registry.text()).toContain(
      'a_total{controller="ttl",result="success"} 0\na_total{controller="ttl",result="error"} 4\n',
    );
  });

  test('histograms are cumulative and end with +Inf, sum and count; a bound belongs to its bucket', () => {
    const registry = new Registry();
    const seconds = registry.histogram('h', 'x', ['q'], [1, 2]).with('a');
    for (const value of [0.5, 1, 1.5, 99]) seconds.observe(value);
    expect(registry.text()).toContain(
      'h_bucket{q="a",le="1"} 2\nh_bucket{q="a",le="2"} 3\nh_bucket{q="a",le="+Inf"} 4\nh_sum{q="a"} 102\nh_count{q="a"} 4\n',
    );
  });

  test('values that are looked up at the scrape', () => {
    const registry = new Registry();
    let depth = 1;
    registry.gauge('depth', 'x', ['name']).collect(() => [[['q'], depth]]);
    expect(registry.text()).toContain('depth{name="q"} 1\n');
    depth = 7;
    expect(registry.text()).toContain('depth{name="q"} 7\n');
  });

  test('a looked-up gauge without labels has one value, not two', () => {
    const registry = new Registry();
    registry.gauge('depth', 'x').collect(() => [[[], 4]]);
    expect(registry.text().match(/^depth /gm)).toHaveLength(1);
  });

  test('label values are escaped, whatever they contain', () => {
    const registry = new Registry();
    registry.counter('a_total', 'line\nbreak \\', ['x']).with('a"b\\c\nd').inc();
    expect(registry.text()).toBe(
      '# HELP a_total line\\nbreak \\\\\n# TYPE a_total counter\na_total{x="a\\"b\\\\c\\nd"} 1\n',
    );
  });

  test('the same name is the same metric; another shape is refused', () => {
    const registry = new Registry();
    registry.counter('a_total', 'x', ['q']).with('1').inc();
    registry.counter('a_total', 'x', ['q']).with('1').inc();
    expect(registry.text()).toContain('a_total{q="1"} 2\n');
    expect(() => registry.gauge('a_total', 'x', ['q'])).toThrow(/another shape/);
    expect(() => registry.counter('a_total', 'x', ['r'])).toThrow(/another shape/);
  });

  test('a wrong number of labels is refused, and a removed child is gone', () => {
    const registry = new Registry();
    const family = registry.counter('a_total', 'x', ['q']);
    expect(() => family.with()).toThrow(/has the labels q/);
    family.with('gone').inc();
    family.remove('gone');
    expect(registry.text()).not.toContain('gone');
  });

  test('infinities are written as Prometheus writes them', () => {
    const registry = new Registry();
    registry.gauge('g', 'x').with().set(Number.NEGATIVE_INFINITY);
    expect(registry.text()).toContain('g -Inf\n');
  });
});
