// The chart says what the program says: generated files are up to date, and metrics in alerts and on the dashboard exist.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { realClock } from '#base/clock';
import { silentLog } from '#base/log';
import { systemRandom } from '#base/random';
import { anonymous } from '#client/credentials';
import type { Transport } from '#client/transport';
import { assemble } from '#cmd/assemble';
import { readGeneral } from '#cmd/configuration/general';
import { loadConfiguration } from '#cmd/configuration/load';
import { RESOURCES } from '#cmd/manifests/workload';
import { FAMILIES } from '#controllers/registry';
import { webhookHandler } from '#runtime/host/webhook';
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

/** Every metric that a process registers when it has everything. */
async function metricsOfProcess(): Promise<Set<string>> {
  const document = loadConfiguration(FAMILIES, { flags: {}, environment: {} });
  const transport = (async () => {
    throw new Error('no cluster');
  }) as unknown as Transport;
  const wires = { transport, leaseTransport: transport, credentials: anonymous, namespace: 'none' };
  const { manager, registry, families } = assemble({
    wires,
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: FAMILIES,
    clock: realClock,
    random: systemRandom,
    log: silentLog,
    identity: 'nobody',
  });
  const functions = families.flatMap(({ admission }) => admission);
  webhookHandler({ functions, clock: realClock, log: silentLog, registry });
  manager.start();
  await manager.stop();
  return new Set([...registry.text().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
}

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
    const known = await metricsOfProcess();
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
