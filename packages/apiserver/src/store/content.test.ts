// Content stored in parts is restored byte by byte.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Content } from './content.ts';

const fields = (names: number) =>
  Object.fromEntries(
    Array.from({ length: names }, (_, i) => [`f:name-${i}`, { '.': {}, 'k:{"n":"}"}': {} }]),
  );
const entry = (names: number, manager = 'someone') => ({
  manager,
  fieldsV1: fields(names),
  subresource: 'status',
});
const object = (...managedFields: object[]) => ({
  kind: 'Thing',
  metadata: { name: 'x', managedFields },
  spec: {},
});

const CASES: readonly [name: string, text: string][] = [
  ['nothing', ''],
  ['an object without managers', '{"kind":"Thing"}'],
  ['fieldsV1 below the minimum size', JSON.stringify(object(entry(1)))],
  ['one manager', JSON.stringify(object(entry(30)))],
  ['two managers with equal fieldsV1', JSON.stringify(object(entry(30), entry(30, 'other')))],
  ['several managers', JSON.stringify(object(entry(30), entry(1), entry(40, 'ändert'), entry(50)))],
  ['fieldsV1 above the maximum size', JSON.stringify(object(entry(2000), entry(30)))],
  ['fieldsV1 inside a string', JSON.stringify({ a: JSON.stringify(object(entry(30))) })],
  ['fieldsV1 that is not closed', `{"fieldsV1":{${'"f:a":{},'.repeat(50)}`],
  ['fieldsV1 that ends in a backslash', `{"fieldsV1":{${'"f:a":{},'.repeat(50)}\\`],
];

describe('content', () => {
  test.each(CASES)('%s', (_name, text) => {
    const bytes = Buffer.from(text);
    const content = new Content(bytes);
    expect(Buffer.from(content.bytes).toString()).toBe(text);
    expect(content.size).toBe(bytes.length);
  });

  test('does not change when the original bytes change', () => {
    const bytes = Buffer.from(JSON.stringify(object(entry(30))));
    const content = new Content(bytes);
    const text = bytes.toString();
    bytes.fill(0);
    expect(Buffer.from(content.bytes).toString()).toBe(text);
  });

  test('restores arbitrary bytes', () => {
    const piece = fc.oneof(
      fc.constantFrom('"fieldsV1":{', '{', '}', '"', '\\', 'ä', '"f:spec":{},'.repeat(30)),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const bytes = Buffer.from(pieces.join(''));
        expect(Buffer.compare(new Content(bytes).bytes, bytes)).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
