// The tables of the README must match the code.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rightsOf, sourcesOf } from '@lapse/runtime/definition';
import { describe, expect, test } from 'vitest';
import { storagePoolController } from './controller.ts';
import { agent, lvg, node, pool } from './pool.testkit.ts';
import { OUR_FIELDS } from './reconcile.ts';
import { lvgFacts, nodeFacts, nodeIndexes, podFacts, podIndexes, poolFacts, poolIndexes } from './sources.ts';
import { NOT_READY_REASONS } from './validate.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const readme = read('README.md');
const code = [
  'decide',
  'futureTransitions',
  'gather',
  'nodeSelector',
  'reconcile',
  'sources',
  'status',
  'validate',
]
  .map((name) => read(`${name}.ts`))
  .join('\n');

function section(title: string): string {
  const [, rest = ''] = readme.split(`\n## ${title}\n`);
  return rest.split('\n## ')[0]!;
}
/** Rows of the first table of a section, without its header. */
const rows = (title: string): string[][] =>
  section(title)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const column = (title: string, at: number) => rows(title).map((row) => row[at]!);
const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
const definition = storagePoolController({ agentNamespace: 'agents' });

test('the condition table lists every reason, and no other', () => {
  expect(column('Conditions', 1)).toEqual(['Ready', ...NOT_READY_REASONS]);
  expect(new Set(column('Validation checks', 2).flatMap(quoted))).toEqual(
    new Set(NOT_READY_REASONS.filter((reason) => reason !== 'TooManyEligibleNodes')),
  );
});

test('the watch table lists every kind with its facts', () => {
  expect(column('Watches', 0)).toEqual(sourcesOf(definition).map(({ kind }) => kind.kind));
  const facts = [
    Object.keys(poolFacts(pool('p', []))),
    ...[nodeFacts(node('n')), lvgFacts(lvg('v', 'n')), podFacts(agent('a', 'n'))].map(Object.keys),
  ];
  expect(column('Watches', 2).map(quoted)).toEqual(facts);
});

test('the index table lists every field', () => {
  const fields = [poolIndexes, nodeIndexes, podIndexes].flatMap((indexes) => Object.keys(indexes));
  expect(column('Indexes', 1).flatMap(quoted)).toEqual(fields);
});

test('the table of managed metadata lists every field that is written, and the rights for it', () => {
  const keys = column('Managed metadata', 1).flatMap(quoted);
  expect(keys.map((key) => key.replace(/^status\.|\[Ready\]/g, '')).sort()).toEqual([...OUR_FIELDS].sort());
  expect(rightsOf(definition)).toEqual([
    { group: '', resource: 'nodes', verbs: ['list', 'watch'] },
    { group: '', resource: 'pods', verbs: ['list', 'watch'] },
    { group: 'storage.deckhouse.io', resource: 'lvmvolumegroups', verbs: ['list', 'watch'] },
    { group: 'storage.deckhouse.io', resource: 'replicatedstoragepools', verbs: ['list', 'watch'] },
    { group: 'storage.deckhouse.io', resource: 'replicatedstoragepools/status', verbs: ['patch'] },
  ]);
});

describe('names', () => {
  const named = [
    ...[...section('Call tree').matchAll(/(?:── |\+ |\/ )([a-z]\w+)/g)].map((match) => match[1]!),
    ...[...section('Data flow').matchAll(/\[([a-z]\w+)(?::|\])/g)].map((match) => match[1]!),
  ];
  test('the call tree contains the functions that the text names', () => {
    expect(named.length).toBeGreaterThan(20);
  });
  test.each([...new Set(named)])('%s exists', (name) => {
    expect(code).toMatch(new RegExp(`(function\\*? |const )${name}\\b`));
  });
});

test('cases are numbered without a gap', () => {
  const numbers = [...section('Cases').matchAll(/^(\d+)\. /gm)].map((match) => Number(match[1]));
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  expect(numbers.length).toBeGreaterThan(10);
});

test('the guide names every reason', () => {
  const guide = read('../../../../../docs/tasks/storage-pool.md');
  const [, table = ''] = guide.split('## Troubleshooting');
  const named = [...table.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  expect(named).toEqual([...NOT_READY_REASONS]);
});

test('every scenario of the original controller has a row, except those of its later versions', () => {
  // 56: a selector over all data nodes of a module.
  const later = Array.of(56);
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  const numbers = files.flatMap((name) =>
    [...read(name).matchAll(/\[(\d+)[a-d]?\]/g)].map((match) => Number(match[1])),
  );
  const missing = Array.from({ length: 115 }, (_, i) => i + 1).filter((n) => !numbers.includes(n));
  expect(missing).toEqual(later);
});
