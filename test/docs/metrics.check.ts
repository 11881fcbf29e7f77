// A page that names a metric of ours names one that the program has.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { metricsOfProcess } from '../../scripts/chart/processMetrics.ts';

const root = join(import.meta.dirname, '../..');
const OURS = /`((?:lapse|leader_election|rest_client|workqueue|controller_runtime)_[a-z_]+)(?:\{[^`]*\})?`/g;
let known: Set<string>;
beforeAll(async () => {
  known = await metricsOfProcess();
});

test.each(['README.md', ...globSync('docs/*.md', { cwd: root })])('%s', (page) => {
  const named = [...readFileSync(join(root, page), 'utf8').matchAll(OURS)].map(([, name]) => name!);
  expect(named.filter((name) => !known.has(name.replace(/_(bucket|count|sum)$/, '')))).toEqual([]);
});
