import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { Json } from '@lapse/kube/api/json';
import { asObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { customPrinter } from './printer.ts';

const widget = asObject({
  apiVersion: 'toys.example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', creationTimestamp: '2025-12-31T23:55:00Z', labels: { app: 'x' } },
  spec: {
    s: 'text',
    i: 42,
    f: 1.5,
    b: true,
    n: null,
    o: { b: 1, a: 'x' },
    l: ['x', 2],
    big: 12345678901234,
    t: '2025-12-31T00:00:00Z',
  },
  status: {
    conditions: [
      { type: 'Synced', status: 'False' },
      { type: 'Ready', status: 'True' },
    ],
  },
});

const column = (type: string, jsonPath: string) => ({
  name: 'C',
  type,
  format: '',
  description: '',
  priority: 0,
  jsonPath,
});

describe('cells', () => {
  test.each<[string, string, Json]>([
    ['string', '.spec.s', 'text'],
    ['string', '.spec.i', '42'],
    ['string', '.spec.f', '1.5'],
    ['string', '.spec.b', 'true'],
    ['string', '.spec.big', '12345678901234'],
    ['string', '.spec.n', '<no value>'],
    ['string', '.spec.o', '{"a":"x","b":1}'],
    ['string', '.spec.l', '["x",2]'],
    ['string', '.spec.l[*]', 'x'],
    ['string', '.spec.none', null],
    ['string', '.spec.s.more', null],
    ['string', ".status.conditions[?(@.type=='Ready')].status", 'True'],
    ['string', ".status.conditions[?(@.type=='None')].status", null],
    ['string', '.metadata.labels.app', 'x'],
    ['integer', '.spec.i', 42],
    ['integer', '.spec.f', 1],
    ['integer', '.spec.s', null],
    ['number', '.spec.f', 1.5],
    ['number', '.spec.i', 42],
    ['boolean', '.spec.b', true],
    ['boolean', '.spec.s', null],
    ['date', '.metadata.creationTimestamp', '5m'],
    ['date', '.spec.t', '24h'],
    ['date', '.spec.s', '<invalid>'],
    ['date', '.spec.i', null],
    ['date', '.spec.none', null],
  ])('a column of type %s at %s shows %j', (type, path, cell) => {
    expect(customPrinter([column(type, path)]).cells(widget, VIRTUAL_START)).toEqual(['w', cell]);
  });
});

describe('columns', () => {
  const namesOf = (...columns: ReturnType<typeof column>[]) =>
    customPrinter(columns).columns.map((c) => c.name);

  test('shows the age without columns', () => {
    expect(namesOf()).toEqual(['Name', 'Age']);
    expect(customPrinter([]).cells(widget, VIRTUAL_START)).toEqual(['w', '5m']);
  });

  test('shows only the columns of the CRD', () => {
    expect(namesOf(column('string', '.spec.s'))).toEqual(['Name', 'C']);
  });

  test('drops all columns from the first invalid path on', () => {
    const columns = ['.spec.s', '.spec[', '.spec.i'].map((path, i) => ({
      ...column('string', path),
      name: `C${i}`,
    }));
    expect(namesOf(...columns)).toEqual(['Name', 'C0']);
    expect(customPrinter(columns).cells(widget, VIRTUAL_START)).toEqual(['w', 'text']);
  });

  test('describes a column without a description by its path', () => {
    expect(customPrinter([column('string', '.spec.s')]).columns[1]!.description).toBe(
      'Custom resource definition column (in JSONPath format): .spec.s',
    );
  });

  test('prints bookmarks as rows of an empty object', () => {
    const empty = asObject({ kind: 'Widget', apiVersion: 'toys.example.com/v1', metadata: {} });
    expect(customPrinter([column('string', '.spec.s')]).cells(empty, VIRTUAL_START)).toEqual(['', null]);
  });
});
