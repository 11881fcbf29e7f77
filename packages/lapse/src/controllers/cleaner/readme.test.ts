// The tables of the README must match the code.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REASONS } from './status.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const readme = read('README.md');
const code = readdirSync(import.meta.dirname)
  .filter((name) => /^[a-zA-Z]+\.ts$/.test(name))
  .map(read)
  .join('\n');

const section = (title: string): string => (readme.split(`\n## ${title}\n`)[1] ?? '').split('\n## ')[0]!;

test('the condition table lists every reason with its status, and no other', () => {
  const rows = [...section('Conditions').matchAll(/^\| (True|False) \| `(\w+)` \|/gm)];
  expect(Object.fromEntries(rows.map(([, status, reason]) => [reason, status]))).toEqual(REASONS);
});

test('the code emits every Event reason in the table', () => {
  const [, told = ''] = /^Events: (.*?)\.$/ms.exec(section('Conditions')) ?? [];
  const named = [...told.matchAll(/`(\w+)`/g)].map(([, reason]) => reason!).sort();
  const spoken = [...code.matchAll(/reason: '(\w+)',\s+action:/g)].map(([, reason]) => reason!);
  expect(named).toEqual([...new Set(spoken)].sort());
});

test('the call tree names files that exist', () => {
  const files = [...section('Call tree').matchAll(/\b([a-zA-Z]+\.ts)\b/g)].map(([, name]) => name!);
  expect(files.length).toBeGreaterThan(10);
  for (const name of files) expect(readdirSync(import.meta.dirname)).toContain(name);
});
