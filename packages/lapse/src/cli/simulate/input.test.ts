import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readObjects } from '#forecast/simulate/manifests';
import { simulateCommand } from './simulateCommand.ts';

const scratch = mkdtempSync(join(tmpdir(), 'lapse-simulate-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('files', () => {
  const file = (text: string) => {
    const path = join(scratch, 'objects.yaml');
    writeFileSync(path, text);
    return path;
  };
  test.each([
    ['nothing', '# nothing\n', /contains no object/],
    ['no YAML', '{a: [', /objects.yaml: /],
    ['a text', 'hello', /not a Kubernetes object/],
    ['a list item that is not an object', '{kind: List, items: [1]}', /an item is not a Kubernetes object/],
    ['no apiVersion', '{kind: Job, metadata: {name: a}}', /apiVersion is missing/],
    [
      'a namespace that is a path',
      '{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: a/b}}',
      /objects.yaml: Pod a: metadata.namespace "a\/b" is not a valid name/,
    ],
    [
      'a timestamp that is not valid',
      '{apiVersion: v1, kind: Pod, metadata: {name: a, creationTimestamp: yesterday}}',
      /objects.yaml: Pod a: metadata.creationTimestamp "yesterday" is not a time/,
    ],
    ['no name', '{apiVersion: v1, kind: Pod, metadata: {}}', /a Pod has no metadata.name/],
  ])('with %s are refused by name', (_rule, text, message) => {
    expect(() => readObjects([file(text)])).toThrow(message);
  });
  test('that do not exist are refused by name', () => {
    expect(() => readObjects([join(scratch, 'none.yaml')])).toThrow(/none.yaml: no such file or directory$/);
  });
});

test.each([
  ['--for', '0s', /--for 0s/],
  ['--for', '900d', /at most 366d are simulated/],
  ['--for', 'soon', /--for soon/],
  ['--at', 'yesterday', /--at must be a time such as/],
  ['--seed', '-1', /--seed must be a whole number/],
  ['--limit', '1.5', /--limit must be a whole number/],
  ['--limit', '1', /2 objects, more than --limit 1/],
  ['--controllers', 'nobody', /"nobody" is none of/],
  ['--with', 'none.yaml', /none.yaml: no such file or directory$/],
  ['--config', 'none.yaml', /--config none.yaml/],
])('%s %s is bad input', async (flag, value, message) => {
  const path = join(scratch, 'two.yaml');
  const one = (name: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}}}\n---\n`;
  writeFileSync(path, one('a') + one('b'));
  const done = simulateCommand().parseAsync([`${flag}=${value}`, path], { from: 'user' });
  await expect(done).rejects.toThrow(message);
});

test('two objects of the same name are bad input', async () => {
  const path = join(scratch, 'twins.yaml');
  writeFileSync(
    path,
    '{kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}]}',
  );
  await expect(simulateCommand().parseAsync([path], { from: 'user' })).rejects.toThrow(
    /two objects v1 ConfigMap default\/a/,
  );
});
