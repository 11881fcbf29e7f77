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
let anywhere: string;
let ownNamespace: string;

/** Without the rights of every authenticated user, and in a stable order. */
const listOf = (text: string): string[] => {
  const [title = '', ...rows] = text.trimEnd().split('\n');
  return [title, ...rows.sort()].map((line) => line.trimEnd());
};

const list = async (namespace: string): Promise<string[]> =>
  listOf(await bed.kubectl('auth', 'can-i', '--list', `--as=${ACCOUNT}`, '-n', namespace));

beforeAll(async () => {
  bed = await startBed();
  const helm = await helmFor(4, bed);
  await helm.run('install', 'lapse', CHART, '--namespace', NAMESPACE, '--create-namespace');
  const everyone = new Set(
    listOf(
      await bed.kubectl('auth', 'can-i', '--list', '--as=a-user', '--as-group=system:authenticated'),
    ).slice(1),
  );
  const own = (lines: readonly string[]) => lines.filter((line) => !everyone.has(line));
  const common = own(await list('default'));
  anywhere = common.join('\n');
  const [title, ...rows] = common;
  ownNamespace = [
    title,
    ...own(await list(NAMESPACE)).filter((line) => line !== title && !rows.includes(line)),
  ].join('\n');
});
afterAll(() => bed?.stop());

const page = (): string => `# Rights of a default install

What \`kubectl auth can-i --list --as=${ACCOUNT}\` prints after \`helm install\` with default values, without the
rights that every authenticated user has. A test compares this page with a real API server
(\`UPDATE_RIGHTS=1 npm run test:kube -- test/security/defaultRights.kube.ts\` writes it).

In every namespace:

\`\`\`text
${anywhere}
\`\`\`

In its own namespace, beside these:

\`\`\`text
${ownNamespace}
\`\`\`
`;

test('docs/reference/rights.md lists the rights of a default install', () => {
  if (process.env['UPDATE_RIGHTS'] !== undefined) writeFileSync(PAGE, page());
  expect(readFileSync(PAGE, 'utf8')).toBe(page());
});

test('a default install may not impersonate, has no wildcard and reads no Secret outside its namespace', () => {
  const rows = (text: string) => text.split('\n').slice(1);
  const all = [...rows(anywhere), ...rows(ownNamespace)];
  expect(all.length).toBeGreaterThan(10);
  expect(all.filter((line) => line.includes('impersonate'))).toEqual([]);
  expect(all.filter((line) => /\*/.test(line))).toEqual([]);
  expect(rows(anywhere).filter((line) => /^secrets\b/.test(line))).toEqual([]);
});
