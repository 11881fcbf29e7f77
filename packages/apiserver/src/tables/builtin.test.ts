// Every row here was printed by kube-apiserver 1.36.3 (GET …?includeObject=Object as Table). Fields that no cell
// shows were removed from the objects.

import { readFileSync } from 'node:fs';
import { instant } from '@lapse/base/instant';
import type { Json, JsonObject } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { columnsData } from '../data/tables.ts';
import { builtinPrinter } from './builtin.ts';

interface RecordedRow {
  readonly storage: string;
  /** Start of the second in which the row was printed, epoch milliseconds. */
  readonly now: number;
  readonly object: KubeObject;
  readonly cells: Json[];
  readonly conditions?: JsonObject[];
}

const recorded = parseJson(readFileSync(new URL('./recordedRows.json', import.meta.url)))
  .value as unknown as RecordedRow[];

describe('rows as printed by kube-apiserver', () => {
  test.each(recorded.map((row) => [row.storage, row.object.metadata.name, row] as const))(
    '%s %s',
    (storage, _name, row) => {
      const printer = builtinPrinter(storage);
      // The fraction of the second is unknown: an age may be the one at its start or at its end.
      const early = printer.cells(row.object, instant(row.now));
      const late = printer.cells(row.object, instant(row.now + 999));
      const ours = row.cells.map((cell, i) => (late[i] === cell ? cell : early[i]));
      expect(ours).toEqual(row.cells);
      expect(early).toHaveLength(row.cells.length);
      expect(printer.conditions?.(row.object)).toEqual(row.conditions);
    },
  );
});

test('the recorded rows include every kind with its own columns', () => {
  expect([...new Set(recorded.map((row) => row.storage))].sort()).toEqual(Object.keys(columnsData()).sort());
});

/** kube-apiserver prints one cell more than it has columns. */
const cellCount = (storage: string): number =>
  builtinPrinter(storage).columns.length + (storage === 'ipaddresses.networking.k8s.io' ? 1 : 0);

describe('an empty object (a bookmark) has a cell for every column', () => {
  test.each(Object.keys(columnsData()))('%s', (storage) => {
    const printer = builtinPrinter(storage);
    const cells = printer.cells({ kind: '', apiVersion: '', metadata: {} }, instant(0));
    expect(cells).toHaveLength(cellCount(storage));
    expect(cells).not.toContain(undefined);
  });
});

describe('values of the wrong type are printed as empty and do not throw', () => {
  const hostile: Json[] = [
    null,
    7,
    'text',
    [],
    ['x'],
    [null],
    { a: 1 },
    JSON.parse('{"__proto__":[1]}') as Json,
  ];
  const fields = ['spec', 'status', 'data', 'subsets', 'webhooks', 'subjects', 'involvedObject', 'roleRef'];
  test.each(Object.keys(columnsData()))('%s', (storage) => {
    const printer = builtinPrinter(storage);
    for (const value of hostile) {
      const object = Object.fromEntries(fields.map((field) => [field, value]));
      const cells = printer.cells({ kind: '', apiVersion: '', metadata: {}, ...object }, instant(0));
      expect(cells).toHaveLength(cellCount(storage));
    }
  });
});
