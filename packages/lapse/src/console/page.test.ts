// The generated page and SVG are self-contained, load nothing, and cannot be manipulated by object names.

import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { PageData } from './browser/data.ts';
import { pageData } from './data.ts';
import { escapeMarkup, jsonForScript, plainText } from './escape.ts';
import { planPage } from './page.ts';
import { at, end, HOSTILE, held, hostilePlan, MADE, manyEnds, plan } from './plan.testkit.ts';
import { pageScript } from './script.ts';
import { planSvg } from './svg.ts';

const parts = (page: string, pattern: RegExp): string[] => [...page.matchAll(pattern)].map((m) => m[1]!);
const scripts = (page: string) => parts(page, /<script>([\s\S]*?)<\/script>/g);
const dataOf = (page: string) =>
  JSON.parse(parts(page, /<script type="application\/json" id="plan">([\s\S]*?)<\/script>/g)[0]!) as PageData;
const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('the page', () => {
  const page = planPage(plan([end('report', 5)], { held: [held('stuck')], more: 3 }));

  test('allows only its own script and styles', () => {
    const [policy] = parts(page, /Content-Security-Policy" content="([^"]*)"/g);
    const [styles] = parts(page, /<style>([\s\S]*?)<\/style>/g);
    expect(policy).toBe(
      `default-src 'none'; script-src ${hash(scripts(page)[0]!)}; style-src ${hash(styles!)}; img-src data:; base-uri 'none'; form-action 'none'`,
    );
  });

  test('contains no URL to load from', () => {
    const withoutHashes = page.replace(/'sha256-[^']*'/g, '');
    const addresses = parts(withoutHashes, /((?:https?:)?\/\/[\w.-]+)/g).filter(
      (it) => it !== 'http://www.w3.org',
    );
    expect(addresses).toEqual([]);
    expect(page).not.toMatch(
      /\b(?:fetch|XMLHttpRequest|WebSocket|EventSource|importScripts|sendBeacon)\b|@import|url\(/,
    );
  });

  test('has every element that its script uses', () => {
    const ids = new Set(parts(page, /\bid="([\w-]+)"/g));
    const asked = parts(pageScript(), /[bB]yId\('([\w-]+)'\)/g);
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.filter((id) => !ids.has(id))).toEqual([]);
  });

  test('has a valid script without types and imports', () => {
    expect(() => new Script(pageScript())).not.toThrow();
    expect(pageScript()).not.toMatch(/^\s*(?:import|export)\b/m);
  });

  test('contains the plan', () => {
    expect(dataOf(page)).toEqual({
      cluster: 'test',
      made: at(0),
      until: at(168),
      more: 3,
      kinds: ['Job', 'Pod'],
      namespaces: ['(cluster)', 'ci'],
      rules: ['metadata.annotations', 'spec.ttlSecondsAfterFinished'],
      families: ['ttl-after-finished'],
      unread: [],
      rows: [
        {
          at: at(5),
          kind: 0,
          namespace: 1,
          rule: 1,
          family: 0,
          name: 'report',
          apiVersion: 'batch/v1',
          because: 'report finished an hour ago and has a TTL.',
          propagation: 'Background',
        },
        {
          at: null,
          held: true,
          kind: 1,
          namespace: 1,
          rule: 0,
          family: 0,
          name: 'stuck',
          apiVersion: 'v1',
          because: 'A finalizer holds stuck.',
        },
      ],
    });
  });

  test('reports what could not be read, and what only changes', () => {
    const { propagation: _, dependents: __, moreDependents: ___, ...change } = end('pool', 4);
    const told = planPage(plan([], { changes: [change], unread: ['pods: <forbidden>', ...'abcdef'] }));
    expect(told).toContain('<b>Could not be read</b>');
    expect(told).toContain('<bdi>pods: &lt;forbidden&gt;</bdi>');
    expect(told).toContain('<li>and 2 more</li>');
    expect(told).toContain('<b>1</b> changing');
    expect(dataOf(told).rows).toMatchObject([{ changes: true, at: at(4), name: 'pool' }]);
    expect(page).not.toContain('Could not be read');
  });

  test('shows names from the cluster as text', () => {
    const hostile = planPage(hostilePlan());
    expect(scripts(hostile)).toEqual([pageScript()]);
    expect(hostile.match(/<script/g)).toHaveLength(2);
    expect(hostile.match(/<!--/g)).toBeNull();
    expect(hostile).not.toContain('<img');
    expect(hostile).not.toMatch(/[\u0000\u001b\u202e]/);
    expect(dataOf(hostile).rows).toHaveLength(HOSTILE.length * 2);
    expect(dataOf(hostile).rows[0]!.name).toBe(HOSTILE[0]);
  });

  test('is smaller than a megabyte with thousands of deletions, and works without any', () => {
    expect(planPage(manyEnds(2000)).length).toBeLessThan(1_000_000);
    expect(dataOf(planPage(plan([]))).rows).toEqual([]);
  });
});

describe('the colours', () => {
  const [styles = ''] = parts(planPage(plan([])), /<style>([\s\S]*?)<\/style>/g);
  const themes = ['light', 'dark'].map((theme) => {
    const [rules = ''] = parts(styles, new RegExp(`:root\\[data-theme=${theme}\\]\\{([^}]*)\\}`, 'g'));
    return [
      theme,
      Object.fromEntries(parts(rules, /(--[\w-]+:#[0-9a-f]{6});/g).map((it) => it.split(':'))),
    ] as const;
  });

  /** WCAG 2: relative luminance and contrast. */
  const luminance = (colour: string): number => {
    const [r, g, b] = [1, 3, 5].map((from) => {
      const share = Number.parseInt(colour.slice(from, from + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one: string, other: string): number => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
    return (light + 0.05) / (dark + 0.05);
  };

  test.each(themes)('%s: text and marks have sufficient contrast', (_, ink) => {
    for (const words of ['--text', '--quiet', '--overdue', '--accent'])
      for (const ground of ['--surface', '--page', '--stripe'])
        expect(contrast(ink[words]!, ink[ground]!), `${words} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    const kinds = Object.keys(ink).filter((name) => /^--c\d+$/.test(name));
    expect(kinds).toHaveLength(12);
    expect(new Set(kinds.map((kind) => ink[kind])).size).toBe(12);
    // Numbers on marks have the colour of the surface.
    for (const kind of kinds)
      expect(contrast(ink[kind]!, ink['--surface']!), kind).toBeGreaterThanOrEqual(4.5);
  });
});

describe('the data', () => {
  test('includes the group of a kind that exists in two groups', () => {
    const object = { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Job', name: 'x', uid: 'x' };
    expect(pageData(plan([end('a', 1), end('b', 2, { object })])).kinds).toEqual([
      'Job (batch)',
      'Job (postgresql.cnpg.io)',
    ]);
  });

  test('sorts kinds with a mark before those of dependents, because colours are few', () => {
    const object = (kind: string, name: string) => ({ apiVersion: 'v1', kind, name, uid: name });
    const dependents = Array.from({ length: 30 }, (_, i) => ({
      object: object(`Dependent${i % 10}`, `${i}`),
      depth: 1,
    }));
    const { kinds } = pageData(
      plan([end('a', 1, { dependents }), end('p', 2, { object: object('Pod', 'p') })]),
    );
    expect(kinds.slice(0, 2)).toEqual(['Job', 'Pod']);
    expect(kinds).toHaveLength(12);
  });

  test('names fifty objects of a long cascade and counts the rest', () => {
    const dependents = Array.from({ length: 800 }, (_, index) => ({
      object: { apiVersion: 'v1', kind: 'Pod', namespace: 'ci', name: `pod-${index}`, uid: `${index}` },
      depth: 1,
    }));
    const [row] = pageData(plan([end('a', 1, { dependents, moreDependents: 200 })])).rows;
    expect([row!.dependents!.length, row!.moreDependents]).toEqual([50, 950]);
  });

  test('omits an invalid time', () => {
    expect(pageData(plan([end('a', 1, { at: instant(Number.NaN) })])).rows[0]!.at).toBeNull();
  });
});

describe('escaping', () => {
  test.each([
    ['a<b>&"\'', 'a&lt;b&gt;&amp;&quot;&#39;'],
    ['plain', 'plain'],
  ])('markup of %j', (text, escaped) => expect(escapeMarkup(text)).toBe(escaped));

  test.each([
    ['\u202Eevil', '⟨202e⟩evil'],
    ['a\u0000b', 'a⟨0000⟩b'],
    ['two\nlines', 'two lines'],
    ['שלום', 'שלום'],
    ['👩‍💻', '👩‍💻'],
    ['\ud800x', '\ufffdx'],
    ['x'.repeat(20), 'xxxxxxxxxx…'],
  ])('plain text of %j', (text, plain) => expect(plainText(text, 10)).toBe(plain));

  test('JSON in a script', () => {
    expect(jsonForScript({ a: '</script><!--' })).toBe('{"a":"\\u003c/script>\\u003c!--"}');
  });
});

describe('the SVG', () => {
  /** Checks that every tag is closed, without an XML parser. */
  function unbalanced(svg: string): string[] {
    const open: string[] = [];
    for (const [, close, name, , self] of svg.matchAll(/<(\/?)(\w+)((?:[^<>"]|"[^"<]*")*?)(\/?)>/g)) {
      if (close) {
        if (open.pop() !== name) return [`</${name}>`];
      } else if (!self) open.push(name!);
    }
    return open;
  }

  test.each([
    ['no end', plan([])],
    ['one', plan([end('a', 1)])],
    ['overdue and held', plan([end('a', -3)], { held: [held('b')] })],
    ['names that contain markup', hostilePlan()],
    ['thousands', manyEnds(2000)],
  ])('%s: well-formed, without script, style or URL', (_, it) => {
    const svg = planSvg(it);
    expect(unbalanced(svg)).toEqual([]);
    expect(svg).not.toMatch(/<script|<style|<img|<image|href=|[\u0000-\u0008\u000b-\u001f]/);
    expect(svg).not.toContain('NaN');
  });

  test('describes what it shows', () => {
    const svg = planSvg(plan([end('a', 1), end('b', -1)], { held: [held('c')], more: 7 }), {
      theme: 'dark',
      width: 900,
    });
    expect(svg).toContain('<desc>1 deleted in the next 7 d · 1 overdue · 1 held · 7 later</desc>');
    expect(svg).toContain(
      '<title>Job ci/a: Mon, 16 Nov 2026, 07:30:00 UTC. a finished an hour ago and has a TTL.</title>',
    );
    expect(svg).toContain('>Overdue</text>');
    expect(svg).toContain('>Held</text>');
    expect(svg).toContain('viewBox="0 0 900 ');
  });

  test.each([640, 900, 1200, 1201])('at %d pixels no label of the axis reaches the edge', (width) => {
    for (let hours = 0; hours < 24; hours += 1) {
      const made = instant(MADE + hours * 3_600_000);
      const svg = planSvg(plan([end('a', 30)], { made, until: instant(made + 7 * 86_400_000) }), { width });
      const labels = [...svg.matchAll(/<text x="([\d.]+)" y="94" [^>]*>([^<]*)<\/text>/g)];
      expect(labels.length).toBeGreaterThan(1);
      // Characters of this size are seven pixels wide on average.
      for (const [, x, label] of labels)
        expect(Number(x) + label!.length * 7).toBeLessThanOrEqual(width - 16);
    }
  });

  test('lanes beyond the limit are counted', () => {
    const svg = planSvg(manyEnds(100), { by: 'namespace', lanes: 3 });
    expect(svg).toContain('and 85 more in 20 lanes');
  });
});
