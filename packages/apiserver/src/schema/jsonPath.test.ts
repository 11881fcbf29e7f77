import type { Json } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { JsonPathError, parseJsonPath, printPathValue } from './jsonPath.ts';

const object: Json = {
  flags: [
    { name: 'yes', on: true },
    { name: 'no', on: false },
  ],
  metadata: { labels: { app: 'x', 'a.b/c': 'dots' }, name: 'n' },
  spec: { replicas: 3, ports: [{ port: 80 }, { port: 443 }], ratio: 1.5, nothing: null, empty: [] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', age: 2 },
      { type: 'Odd)', status: 'False', age: 1.5 },
      { reason: 'none' },
    ],
  },
};

describe('values at a path', () => {
  test.each<[string, Json[]]>([
    ['.spec.replicas', [3]],
    ['.metadata.labels.app', ['x']],
    ['.metadata.labels.a\\.b/c', ['dots']],
    [".metadata['name']", ['n']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ["$.status.conditions[?(@.type=='Odd)')].status", ['False']],
    ['.status.conditions[?(@.reason)].reason', ['none']],
    ['.status.conditions[?(@.age>1)].type', []],
    ['.spec.ports[0].port', [80]],
    ['.spec.ports[-1].port', [443]],
    ['.spec.ports[*].port', [80, 443]],
    ['.spec.ports[0:1].port', [80]],
    ['.spec.ports[1,0].port', [443, 80]],
    ['.spec.ports[::2].port', [80]],
    ['.spec.ports[0:2:].port', [80, 443]],
    ['.spec.ports[:-1].port', [80]],
    ['..port', [80, 443]],
    ['.spec.nothing', [null]],
    ['.spec.nothing.more', []],
    ['.spec.missing.deep', []],
    ['.spec.replicas.deeper', []],
    ['.spec.empty[*]', []],
    ['.flags[?(@.on==true)].name', ['yes']],
    ['.flags[?(@.on!=true)].name', ['no']],
    ['.__proto__', []],
    ['.constructor', []],
  ])('%s', (path, values) => {
    // An integer and a fraction are not comparable, so a filter over both matches no object.
    const run = () => parseJsonPath(path).find(object);
    if (path.includes('age>1')) expect(run).toThrow(new JsonPathError('incompatible types for comparison'));
    else expect(run()).toEqual(values);
  });

  test('returns the first value, or undefined when the path does not match', () => {
    expect(parseJsonPath('.spec.ports[*].port').first(object)).toBe(80);
    for (const path of [
      '.spec.replicas[0]',
      '.spec.ports[9].port',
      '.spec.replicas[?(@.a)]',
      '.spec.missing',
      'foo',
    ])
      expect(parseJsonPath(path).first(object)).toBeUndefined();
  });
});

test.each([
  ['.a[', 'unterminated array'],
  ['.a[x]', 'invalid array index x'],
  ['.a[?(@.b=="c")', 'unclosed array expect ]'],
  ['.a[?(@.b==1', 'unterminated filter'],
  ['.a[?(@.b=="c)', 'unterminated filter'],
  ['.a[?(@.b==1\n)]', 'unterminated filter'],
  ['"abc', 'unterminated quoted string'],
  ['....', 'invalid multiple recursive descent'],
  ['#', "unrecognized character in action: U+0023 '#'"],
  ['.a\n.b', 'unclosed action'],
  ['1.2.3', 'cannot parse number 1.2.3'],
  ['.a[99999999999999999999]', 'array index 99999999999999999999 is not a number'],
])('%j is not a valid path', (path, message) => {
  expect(() => parseJsonPath(path)).toThrow(new JsonPathError(message));
});

test.each<[Json, string]>([
  ['text', 'text'],
  [5, '5'],
  [1234567.5, '1.2345675e+06'],
  [true, 'true'],
  [null, '<no value>'],
  [{ b: [1], a: 'x' }, '{"a":"x","b":[1]}'],
])('%j is shown as %s', (value, text) => {
  expect(printPathValue(value)).toBe(text);
});

test('parses and evaluates hostile paths quickly', () => {
  for (const path of [
    '[?('.repeat(20_000),
    '.a'.repeat(100_000),
    `.a[?(${'@'.repeat(100_000)}==1)]`,
    '[0,'.repeat(50_000),
  ])
    try {
      parseJsonPath(path).first(object);
    } catch (error) {
      expect(error).toBeInstanceOf(JsonPathError);
    }
  const nested = `${'[?(@'.repeat(50)}${')]'.repeat(50)}`;
  expect(() => parseJsonPath(nested)).toThrow(JsonPathError);
});
