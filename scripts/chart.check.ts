// The chart agrees with the program: generated files are up to date, and metrics in alerts and on the dashboard exist.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from '@lapse/runtime/metrics/registry';
import { RESOURCES } from 'lapse/cli/manifests/workload';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { metricsOfProcess } from './chart/processMetrics.ts';
import { CHART, chartFiles, definitionFiles } from './chart.ts';

const read = (path: string): string => readFileSync(join(CHART, path), 'utf8');
const files = chartFiles();

describe('generated files (node scripts/chart.ts writes them)', () => {
  test.each([...files.keys()])('%s', (path) => {
    expect(read(path)).toBe(files.get(path));
  });

  test('no CRD of a removed kind is left', () => {
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

/** Labels of selectors, and labels of aggregations. */
const labelsIn = (expression: string): string[] => [
  ...[...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner]) =>
    [...inner!.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label!),
  ),
  ...[...expression.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)].flatMap(([, inner]) =>
    inner!.split(',').map((label) => label.trim()),
  ),
];
const OF_THE_SCRAPE = ['namespace', 'pod', 'container', 'le'];

/** Metrics of kube-state-metrics. */
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

  test('every name in alerts and on the dashboard is a metric of the program', async () => {
    const known = new Set((await metricsOfProcess()).map(({ name }) => name));
    expect(known.size).toBeGreaterThan(30);
    const unknown = asked.flatMap(({ who, expr }) => {
      const names = metricsIn(expr);
      expect(names, who).not.toEqual([]);
      return names.filter((name) => !known.has(name) && !NOT_OURS.has(name)).map((name) => `${who}: ${name}`);
    });
    expect(unknown).toEqual([]);
  });

  test('every label in alerts and on the dashboard is a label of its metric', async () => {
    const registered = [
      vi.spyOn(Registry.prototype, 'counter'),
      vi.spyOn(Registry.prototype, 'gauge'),
      vi.spyOn(Registry.prototype, 'histogram'),
    ];
    await metricsOfProcess();
    const labels = new Map(
      registered.flatMap(({ mock }) =>
        mock.calls.map(([name, , own = []]) => [name, new Set([...own, ...OF_THE_SCRAPE])] as const),
      ),
    );
    vi.restoreAllMocks();
    const unknown = asked.flatMap(({ who, expr }) => {
      const known = metricsIn(expr).flatMap((name) => labels.get(name) ?? []);
      return labelsIn(expr)
        .filter((label) => known.some((own) => !own.has(label)))
        .map((label) => `${who}: ${label}`);
    });
    expect(labels.get('lapse_cache_problem')).toContain('source');
    expect(unknown).toEqual([]);
  });

  test('every alert has a description', () => {
    for (const alert of alerts)
      expect(alert).toMatchObject({
        labels: { severity: expect.stringMatching(/^(warning|critical)$/) },
        annotations: { summary: expect.any(String), description: expect.any(String) },
      });
  });
});
