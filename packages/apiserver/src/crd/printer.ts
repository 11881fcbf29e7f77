// Tables of custom resources: the name, then the columns of the CRD, or the age without columns.

import { type Instant, instant } from '@lapse/base/instant';
import type { Json } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { GoTimeError, isZeroTime, parseGoTime, RFC3339 } from '#schema/goTime';
import { type JsonPath, JsonPathError, parseJsonPath, printPathValue } from '#schema/jsonPath';
import { formatAge } from '../tables/age.ts';
import type { Column, TablePrinter } from '../tables/printer.ts';
import type { PrinterColumn } from './crd.ts';

const NAME: Column = { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 };

const column = (name: string, type: string, jsonPath: string, description = ''): PrinterColumn => ({
  name,
  type,
  format: '',
  description,
  priority: 0,
  jsonPath,
});

const AGE = column('Age', 'date', '.metadata.creationTimestamp');

interface Cell {
  readonly column: Column;
  readonly path: JsonPath;
}

export function customPrinter(columns: readonly PrinterColumn[]): TablePrinter {
  const cells = cellsOf(columns.length > 0 ? columns : [AGE]);
  return {
    columns: [NAME, ...cells.map((c) => c.column)],
    cells(object: KubeObject, now: Instant): Json[] {
      const json = asJson(object);
      const values = cells.map(({ column: { type }, path }) => cellOf(type, path.first(json), now));
      return [object.metadata.name ?? '', ...values];
    },
  };
}

/** Table of the scale subresource. */
export const scalePrinter = (): TablePrinter =>
  customPrinter([
    column('Desired', 'integer', '.spec.replicas', 'Number of desired replicas'),
    column('Available', 'integer', '.status.replicas', 'Number of actual replicas'),
    AGE,
  ]);

/** The columns before the first one with an unreadable path: kube-apiserver stops there, too. */
function cellsOf(columns: readonly PrinterColumn[]): Cell[] {
  const cells: Cell[] = [];
  for (const { jsonPath, ...shown } of columns) {
    try {
      const path = parseJsonPath(jsonPath);
      const described = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
      cells.push({ column: { ...shown, description: shown.description || described }, path });
    } catch (cause) {
      if (cause instanceof JsonPathError) return cells;
      throw cause;
    }
  }
  return cells;
}

/** A value that does not match the type of its column is shown as null. */
function cellOf(type: string, value: Json | undefined, now: Instant): Json {
  if (value === undefined) return null;
  switch (type) {
    case 'string':
      return printPathValue(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? sinceOf(value, now) : null;
    default:
      return null;
  }
}

function sinceOf(text: string, now: Instant): string {
  if (text === '' || text === 'null') return '<unknown>';
  try {
    const time = parseGoTime(RFC3339, text);
    return isZeroTime(time) ? '<unknown>' : formatAge(instant(time.seconds * 1000), now);
  } catch (cause) {
    if (cause instanceof GoTimeError) return '<invalid>';
    throw cause;
  }
}
