// The real kubectl reads the YAML output of the commands as intended.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { yamlDocuments } from 'lapse/cli/yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../bed/bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed?.stop());

const WORDS = [
  'yes',
  'on',
  'n',
  'Off',
  'null',
  '~',
  '',
  '1_000',
  '0b11',
  '0x1F',
  '0X1f',
  '-0o17',
  '-_1',
  '1e3',
];
const LINES = [
  '\tfirst a tab\n',
  ' \n',
  'a\u2028b',
  'a\u0085b',
  'a\x7fb',
  'a\r\nb',
  ' two\n  three\n\n',
  '<<',
  '# a',
];

test('strings stay strings for kubectl, whatever they look like', async () => {
  const data = Object.fromEntries([...WORDS, ...LINES].map((text, at) => [`key-${at}`, text]));
  const named = Object.fromEntries(WORDS.filter((word) => /^\w+$/.test(word)).map((word) => [word, word]));
  const map = (name: string, content: object) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { on: 'yes' }, annotations: { at: '2001-12-14T21:59:43Z' } },
    data: content,
  });
  const file = join(bed.directory, 'maps.yaml');
  writeFileSync(file, yamlDocuments([map('values', data), map('keys', named)]));
  await bed.kubectl('create', '--filename', file);
  const read = async (name: string) => JSON.parse(await bed.kubectl('get', 'configmap', name, '-o', 'json'));
  expect(await read('values')).toMatchObject(map('values', data));
  expect((await read('keys')).data).toEqual(named);
});
