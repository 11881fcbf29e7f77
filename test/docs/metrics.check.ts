// Every Lapse metric named on a page exists in the program.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { metricsOfProcess } from '../../scripts/chart/processMetrics.ts';
import { METRICS, writeMetrics } from './metrics.ts';

const root = join(import.meta.dirname, '../..');
const OURS = /`((?:lapse|leader_election|rest_client|workqueue|controller_runtime)_[a-z_]+)(?:\{[^`]*\})?`/g;
let known: Set<string>;
beforeAll(async () => {
  known = new Set((await metricsOfProcess()).map(({ name }) => name));
});

test('docs/reference/metrics.md is what the program has (node test/docs/metrics.ts writes it)', async () => {
  expect(readFileSync(METRICS, 'utf8')).toBe(await writeMetrics());
});

test.each(['README.md', ...globSync('docs/**/*.md', { cwd: root })])('%s', (page) => {
  const named = [...readFileSync(join(root, page), 'utf8').matchAll(OURS)].map(([, name]) => name!);
  expect(named.filter((name) => !known.has(name.replace(/_(bucket|count|sum)$/, '')))).toEqual([]);
});
