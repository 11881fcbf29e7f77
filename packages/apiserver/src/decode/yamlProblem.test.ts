// The error messages of kube-apiserver for invalid YAML.

import { expect, test } from 'vitest';
import { parseYaml } from './yaml.ts';

const REFUSED: readonly (readonly [string, string])[] = [
  ['a: [', 'yaml: line 1: did not find expected node content'],
  ['{ a: [ }', 'yaml: did not find expected node content'],
  ['{', 'yaml: line 1: did not find expected node content'],
  ['[1, 2', "yaml: line 1: did not find expected ',' or ']'"],
  ['{a: 1 b: 2}', "yaml: did not find expected ',' or '}'"],
  ['{a: 1', "yaml: line 1: did not find expected ',' or '}'"],
  ['{a: 1,', 'yaml: line 1: did not find expected node content'],
  ['[,]', 'yaml: did not find expected node content'],
  ['{,}', 'yaml: did not find expected node content'],
  ['a: ]', 'yaml: did not find expected node content'],
  ['a: }', 'yaml: did not find expected node content'],
  [']', 'yaml: did not find expected node content'],
  ['a:\n\tb: 1', 'yaml: line 2: found character that cannot start any token'],
  ['a: b: c', 'yaml: mapping values are not allowed in this context'],
  ['a: 1\n b: 2', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a: 1\nb', "yaml: line 3: could not find expected ':'"],
  ['a: 1\nb\nc: 2', "yaml: line 3: could not find expected ':'"],
  ['- a\nb: 1', "yaml: line 1: did not find expected '-' indicator"],
  ['a: "x', 'yaml: found unexpected end of stream'],
  ["a: 'x", 'yaml: found unexpected end of stream'],
  ['a: *b', "yaml: unknown anchor 'b' referenced"],
  ['a: &', 'yaml: did not find expected alphabetic or numeric character'],
  ['a: @x', 'yaml: found character that cannot start any token'],
  ['a: `x', 'yaml: found character that cannot start any token'],
  ['a: %x', 'yaml: found character that cannot start any token'],
  ['%x', 'yaml: found unknown directive name'],
  ['a: |\n x\n y: 1\nz', "yaml: line 5: could not find expected ':'"],
  ['a:\n  - b\n c: 1', 'yaml: line 2: did not find expected key'],
  ['a:\n  b: 1\n c: 2', 'yaml: line 2: did not find expected key'],
  ['key: [a, b\nother: 1', "yaml: line 1: did not find expected ',' or ']'"],
  ['key: {a, b\nother: 1', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: "\\q"', 'yaml: found unknown escape character'],
  ['a: \u0001', 'yaml: control characters are not allowed'],
  ['a: [1, 2]]', 'yaml: did not find expected key'],
  ['a: {b: 1}}', 'yaml: did not find expected key'],
  ['a\n b: c', 'yaml: line 2: mapping values are not allowed in this context'],
  ["a: 'x' y", 'yaml: did not find expected key'],
  ['a: "x" y', 'yaml: did not find expected key'],
  ['a:\n- b\n  c: d', 'yaml: line 3: mapping values are not allowed in this context'],
  ['a: [b: c: d]', "yaml: did not find expected ',' or ']'"],
  ['- - a\n - b', "yaml: line 1: did not find expected '-' indicator"],
  ['a: >x\n b', 'yaml: did not find expected comment or line break'],
  ['*a', "yaml: unknown anchor 'a' referenced"],
  ['a: -\n - b', 'yaml: block sequence entries are not allowed in this context'],
  ['foo: bar: baz', 'yaml: mapping values are not allowed in this context'],
  [
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n data:\n',
    'yaml: line 4: did not find expected key',
  ],
  ['apiVersion: v1\nkind ConfigMap\n', "yaml: line 3: could not find expected ':'"],
  ['apiVersion: v1\nkind: ConfigMap\nmetadata\n  name: a\n', "yaml: line 4: could not find expected ':'"],
  ['{"a": 1,, "b": 2}', 'yaml: did not find expected node content'],
  ['{"a" 1}', "yaml: did not find expected ',' or '}'"],
  ['{"a": 1 "b": 2}', "yaml: did not find expected ',' or '}'"],
  ['["a" "b"]', "yaml: did not find expected ',' or ']'"],
  ['{"a": tru', "yaml: line 1: did not find expected ',' or '}'"],
  ['{"a": "b', 'yaml: found unexpected end of stream'],
  ['x: y\n  z: 1\n', 'yaml: line 2: mapping values are not allowed in this context'],
];

test.each(REFUSED)('%j is rejected: %s', (text, message) => {
  expect(() => parseYaml(text, 100)).toThrow(new Error(message));
});

test.each(['[1 2]', 'a: !', 'a: 1\n---\nb: 2'])('%j is accepted', (text) => {
  expect(() => parseYaml(text, 100)).not.toThrow();
});
