// Specification of the selection (nodeLabelSelector AND zones) and of the error messages.

import { describe, expect, test } from 'vitest';
import type { LabelSelectorSpec } from '#api/replicatedStoragePool';
import { compileNodeSelector, nodeSelectorOf, ZONE_LABEL } from './nodeSelector.ts';
import { pool } from './pool.testkit.ts';

const zone = (name: string) => ({ [ZONE_LABEL]: name });
const expression = (key: string, operator: string, values?: string[]): LabelSelectorSpec => ({
  matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }],
});
const matches = (
  labels: Record<string, string> | undefined,
  nodeLabelSelector?: LabelSelectorSpec,
  zones?: string[],
) => {
  const made = compileNodeSelector({
    ...(nodeLabelSelector === undefined ? {} : { nodeLabelSelector }),
    ...(zones === undefined ? {} : { zones }),
  });
  if (made.kind === 'problem') throw new Error(made.message);
  return made.matches(labels);
};

describe('matches', () => {
  test.each([
    ['[74] no selector and no zones', {}, undefined, undefined, true],
    ['an empty selector and no zones', {}, {}, [], true],
    ['[75] the zone is in the list', zone('b'), undefined, ['a', 'b'], true],
    ['[76] the zone is not in the list', zone('c'), undefined, ['a', 'b'], false],
    ['a node without a zone matches no zone', {}, undefined, ['a'], false],
    ['a node without a zone does not match the empty zone', {}, undefined, [''], false],
    ['a node whose zone label is empty matches the empty zone', zone(''), undefined, [''], true],
    ['[77] the label has the value', { disk: 'ssd' }, { matchLabels: { disk: 'ssd' } }, undefined, true],
    ['[78] the label has another value', { disk: 'hdd' }, { matchLabels: { disk: 'ssd' } }, undefined, false],
    ['the label is missing', {}, { matchLabels: { disk: 'ssd' } }, undefined, false],
    [
      '[80] zone and label match',
      { ...zone('a'), disk: 'ssd' },
      { matchLabels: { disk: 'ssd' } },
      ['a'],
      true,
    ],
    ['[81] only the zone matches', { ...zone('a') }, { matchLabels: { disk: 'ssd' } }, ['a'], false],
    ['only the label matches', { ...zone('b'), disk: 'ssd' }, { matchLabels: { disk: 'ssd' } }, ['a'], false],
    ['In', { disk: 'ssd' }, expression('disk', 'In', ['nvme', 'ssd']), undefined, true],
    ['In, missing', {}, expression('disk', 'In', ['ssd']), undefined, false],
    ['NotIn with another value', { disk: 'hdd' }, expression('disk', 'NotIn', ['ssd']), undefined, true],
    [
      'NotIn with the value of the node',
      { disk: 'ssd' },
      expression('disk', 'NotIn', ['ssd']),
      undefined,
      false,
    ],
    ['NotIn, missing', {}, expression('disk', 'NotIn', ['ssd']), undefined, true],
    ['Exists', { disk: '' }, expression('disk', 'Exists'), undefined, true],
    ['Exists, missing', {}, expression('disk', 'Exists', []), undefined, false],
    ['DoesNotExist', {}, expression('disk', 'DoesNotExist'), undefined, true],
    ['DoesNotExist, there', { disk: '' }, expression('disk', 'DoesNotExist'), undefined, false],
    [
      'the zone label in selector and zones: the intersection',
      zone('a'),
      expression(ZONE_LABEL, 'In', ['b']),
      ['a'],
      false,
    ],
    [
      'labels named like properties of Object.prototype',
      {},
      expression('constructor', 'Exists'),
      undefined,
      false,
    ],
    ['no labels at all', undefined, { matchLabels: { disk: 'ssd' } }, undefined, false],
  ] as const)('%s', (_rule, labels, selector, zones, expected) => {
    expect(matches(labels, selector as LabelSelectorSpec | undefined, zones as string[] | undefined)).toBe(
      expected,
    );
  });
});

describe('invalid selectors', () => {
  const problem = (nodeLabelSelector: LabelSelectorSpec, zones?: string[]) => {
    const made = compileNodeSelector({ nodeLabelSelector, ...(zones === undefined ? {} : { zones }) });
    return made.kind === 'problem' ? made.message : 'none';
  };
  const NAME =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  const VALUE =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
  test.each([
    [
      '[54] a key with spaces',
      { matchLabels: { 'a b': 'x' } },
      `key: Invalid value: "a b": name part ${NAME}`,
    ],
    ['a value with spaces', { matchLabels: { a: 'x y' } }, `values[0][a]: Invalid value: "x y": ${VALUE}`],
    ['an operator', expression('a', 'Gt', ['1']), '"Gt" is not a valid label selector operator'],
    [
      'In nothing',
      expression('a', 'In'),
      "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      'Exists with values',
      expression('a', 'Exists', ['x']),
      'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
    ],
    [
      'two errors at once',
      expression('a b', 'In', []),
      `[key: Invalid value: "a b": name part ${NAME}, values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]`,
    ],
  ])('%s', (_rule, selector, message) => {
    expect(problem(selector)).toBe(`Invalid NodeLabelSelector: ${message}`);
  });
  test('a zone that is not a label value is reported with its index', () => {
    expect(problem({}, ['a', 'b c'])).toBe(
      `Invalid Zones: values[1][${ZONE_LABEL}]: Invalid value: "b c": ${VALUE}`,
    );
  });
  test('of several invalid labels the first by name is reported', () => {
    const words = (matchLabels: Record<string, string>) => problem({ matchLabels });
    expect(words({ 'b b': '', 'a a': '' })).toBe(words({ 'a a': '', 'b b': '' }));
    expect(words({ 'b b': '', 'a a': '' })).toContain('"a a"');
  });
});

describe('labels of which a node must have one', () => {
  const requires = (nodeLabelSelector: LabelSelectorSpec, zones: string[] = []) => {
    const made = compileNodeSelector({ nodeLabelSelector, zones });
    return made.kind === 'selector' && made.requires;
  };
  test.each([
    ['no requirement at all', {}, [], ['*']],
    ['only requirements of absence', expression('a', 'DoesNotExist'), [], ['*']],
    ['presence with any value', expression('a', 'Exists'), [], ['*']],
    ['an equality', { matchLabels: { a: 'x' } }, [], ['a=x']],
    ['zones', {}, ['a', 'b'], [`${ZONE_LABEL}=a`, `${ZONE_LABEL}=b`]],
    ['the shortest list', { matchLabels: { a: 'x' } }, ['a', 'b'], ['a=x']],
  ])('%s', (_rule, selector, zones, expected) => {
    expect(requires(selector, zones)).toEqual(expected);
  });
});

test('the selector of a pool is compiled once per version', () => {
  const rsp = pool('p', ['vg'], { zones: ['a'] });
  expect(nodeSelectorOf(rsp)).toBe(nodeSelectorOf(rsp));
  expect(nodeSelectorOf({ ...rsp })).not.toBe(nodeSelectorOf(rsp));
});
