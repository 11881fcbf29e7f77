// The chart says what the program says: generated files are up to date, and metrics in alerts and on the dashboard exist.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { RESOURCES } from '#cmd/manifests/workload';
import { metricsOfProcess } from './chart/processMetrics.ts';
import { CHART, chartFiles, definitionFiles } from './chart.ts';

const read = (path: string): string => readFileSync(join(CHART, path), 'utf8');
const files = chartFiles();

describe('generated files (node scripts/chart.ts writes them)', () => {
  test.each([...files.keys()])('%s', (path) => {
    expect(read(path)).toBe(files.get(path));
  });

  test('no definition is left of a kind that is gone', () => {
    expect(definitionFiles(CHART).filter((path) => !files.has(path))).toEqual([]);
  });
});

test('the resources of the chart are those of the plain manifests', () => {
  expect(parse(read('values.yaml')).resources).toEqual(RESOURCES);
});

/** Names in an expression: neither labels, nor strings, nor functions. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ')
    .replace(/\b(by|without)\s*\([^)]*\)/g, ' ');
  return [...bare.matchAll(/\b[a-z]\w*_\w+\b(?!\s*\()/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  );
}

/** Of kube-state-metrics. */
const NOT_OURS = new Set(['kube_pod_container_status_restarts_total']);

describe('metrics', () => {
  const alerts = parse(read('files/alerts.yaml')) as { alert: string; expr: string }[];
  const panels = JSON.parse(read('files/dashboard.json')).panels as {
    title: string;
    targets: { expr: string }[];
  }[];
  const asked = [
    ...alerts.map(({ alert, expr }) => ({ who: alert, expr })),
    ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ who: title, expr }))),
  ];

  test('every name in alerts and on the dashboard is one that the program has', async () => {
    const known = new Set((await metricsOfProcess()).map(({ name }) => name));
    expect(known.size).toBeGreaterThan(30);
    const unknown = asked.flatMap(({ who, expr }) => {
      const names = metricsIn(expr);
      expect(names, who).not.toEqual([]);
      return names.filter((name) => !known.has(name) && !NOT_OURS.has(name)).map((name) => `${who}: ${name}`);
    });
    expect(unknown).toEqual([]);
  });

  test('every alert says what to think of it', () => {
    for (const alert of alerts)
      expect(alert).toMatchObject({
        labels: { severity: expect.stringMatching(/^(warning|critical)$/) },
        annotations: { summary: expect.any(String), description: expect.any(String) },
      });
  });
});
