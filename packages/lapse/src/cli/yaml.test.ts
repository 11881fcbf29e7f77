import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { yamlDocuments, yamlText } from './yaml.ts';

const read = (text: string): unknown => parse(text, { version: '1.1' });

describe('strings that YAML 1.1 or Go would read as other types are quoted', () => {
  test.each([
    ...['yes', 'No', 'on', 'OFF', 'y', 'N', 'true', '~', 'null', ''],
    ...['1_000', '0b11', '0x1F', '0o17', '017', '12:30:45', '1e3', '.5', '.inf', '1.'],
    ...['-_1', '+_.5', '0X1F', '0B1', '-0o17', '0O7', '1__0e3', '_1'],
    ...['2001-12-14', '2001-12-14T21:59:43Z', '<<', '- a', 'a: b', '# a'],
  ])('%j', (value) => {
    expect(yamlText({ value })).toBe(`value: ${JSON.stringify(value)}\n`);
    expect(read(yamlText({ [value]: 1 }))).toEqual({ [value]: 1 });
  });

  test.each(['10m', '0.1.0', '10.0.0.1', 'yesterday', '-one', '512Mi', '/a', 'lapse:0.1.0'])(
    '%s is read as a string by all parsers',
    (value) => expect(yamlText({ value })).toBe(`value: ${value}\n`),
  );
});

test('other types are written as they are', () => {
  expect(yamlText({ a: true, b: 1000, c: null, d: 9007199254740993n })).toBe(
    'a: true\nb: 1000\nc: null\nd: 9007199254740993\n',
  );
});

test.each([
  ['a line that begins with a tab is an error in Go', '\tfor\n', '"\\tfor\\n"'],
  ['white space alone would be lost', ' \n', '" \\n"'],
  ['a Unicode line separator does not end a line', 'a\u2028b', '"a\\u2028b"'],
  ['unprintable characters would be rejected', 'a\x7f\ufeffb', '"a\\u007f\\ufeffb"'],
])('%s', (_, text, written) => {
  expect(yamlText({ text })).toBe(`text: ${written}\n`);
});

const PIECES = [
  'yes',
  'on',
  '1',
  '0',
  '_',
  '-',
  '+',
  '.',
  ':',
  'e',
  'x',
  '#',
  '\t',
  '\n',
  ' ',
  '\r',
  '"',
  "'",
];
const MORE = ['|', '>', '%', '&', '*', '!', '?', '[', '}', ',', '<<', '\u0085', '\u2029', '\0', '---', '\\'];
const anyText = fc
  .array(fc.oneof(fc.constantFrom(...PIECES, ...MORE), fc.string({ unit: 'binary', maxLength: 6 })))
  .map((pieces) => pieces.join(''));

test('every string is read back unchanged as a key, as a value and in a list', () => {
  const value = fc.record({
    text: anyText,
    map: fc.dictionary(anyText, anyText, { maxKeys: 3, noNullPrototype: true }),
    list: fc.array(anyText, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(value, (written) => {
      expect(read(yamlText(written))).toEqual(written);
    }),
    { numRuns: 500 },
  );
});

test('documents are written in sequence, without wrapped lines and anchors', () => {
  const twice = { a: 'word '.repeat(40).trim() };
  const text = yamlDocuments([{ one: twice, two: twice }, { three: [] }]);
  expect(text).not.toMatch(/[&*>]/);
  expect(parseAllDocuments(text).map((document) => document.toJS())).toEqual([
    { one: twice, two: twice },
    { three: [] },
  ]);
});
