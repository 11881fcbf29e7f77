// Writes docs/reference/metrics.md from the metrics of a process with everything enabled. Run this file to update it;
// metrics.check.ts fails if the page is out of date.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { metricsOfProcess } from '../../scripts/chart/processMetrics.ts';

export const METRICS = fileURLToPath(new URL('../../docs/reference/metrics.md', import.meta.url));

export async function writeMetrics(): Promise<string> {
  const rows = (await metricsOfProcess()).map(
    ({ name, type, help }) => `| \`${name}\` | ${type} | ${help.replaceAll('|', '\\|')} |`,
  );
  return [
    '# Metrics',
    '',
    'Lapse serves metrics at `/metrics`, on the port of `/healthz` and `/readyz`. Names without the prefix `lapse_` are those',
    'of controller-runtime, client-go and kube-controller-manager, so that their dashboards work. `node test/docs/metrics.ts`',
    'generates this page.',
    '',
    '| Metric | Type | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(METRICS, await writeMetrics());
