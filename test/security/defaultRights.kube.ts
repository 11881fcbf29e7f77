// What the service account of a default chart install may do, as kubectl lists it. docs/reference/rights.md shows the
// list; UPDATE_RIGHTS=1 writes it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { CHART, NAMESPACE } from '../kube/chart/chartBed.ts';
import { helmFor } from '../kube/helm/build.ts';

const PAGE = join(import.meta.dirname, '../../docs/reference/rights.md');
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:lapse`;

let bed: Bed;
let anywhere: string[];
let inOwnNamespace: string[];

/** One line per rule, without the padding of columns: `jobs.batch | [] | [] | [delete get]`. */
async function list(namespace: string, ...who: string[]): Promise<string[]> {
  const text = await bed.kubectl('auth', 'can-i', '--list', '-n', namespace, ...who);
  const rows = text.trimEnd().split('\n').slice(1);
  return [
    ...new Set(
      rows.map((row) =>
        row
          .trimEnd()
          .split(/\s{2,}/)
          .join(' | '),
      ),
    ),
  ].sort();
}

beforeAll(async () => {
  bed = await startBed();
  const helm = await helmFor(4, bed);
  await helm.run('install', 'lapse', CHART, '--namespace', NAMESPACE, '--create-namespace');
  const everyone = await list('default', '--as=a-user', '--as-group=system:authenticated');
  const without = (rows: readonly string[], others: readonly string[]) =>
    rows.filter((row) => !others.includes(row));
  anywhere = without(await list('default', `--as=${ACCOUNT}`), everyone);
  inOwnNamespace = without(await list(NAMESPACE, `--as=${ACCOUNT}`), [...everyone, ...anywhere]);
});
afterAll(() => bed?.stop());

const table = (rows: readonly string[]): string =>
  ['| Resources | Non-resource URLs | Resource names | Verbs |', '|---|---|---|---|']
    .concat(rows.map((row) => `| ${row} |`))
    .join('\n');

const page = (): string => `# Rights of a default install

What \`kubectl auth can-i --list --as=${ACCOUNT}\` prints after \`helm install\` with
default values, without the rights that every authenticated user has. A test compares this page with a real API server;
\`UPDATE_RIGHTS=1 npm run test:kube -- test/security/defaultRights.kube.ts\` writes it.

## In every namespace

${table(anywhere)}

## Only in its own namespace

${table(inOwnNamespace)}
`;

test('docs/reference/rights.md lists the rights of a default install', () => {
  if (process.env['UPDATE_RIGHTS'] !== undefined) writeFileSync(PAGE, page());
  expect(readFileSync(PAGE, 'utf8')).toBe(page());
});

test('a default install may not impersonate, has no wildcard and reads no Secret outside its namespace', () => {
  const all = [...anywhere, ...inOwnNamespace];
  expect(all.length).toBeGreaterThan(10);
  expect(all.filter((line) => line.includes('impersonate'))).toEqual([]);
  expect(all.filter((line) => /\*/.test(line))).toEqual([]);
  expect(anywhere.filter((line) => /^secrets\b/.test(line))).toEqual([]);
});
