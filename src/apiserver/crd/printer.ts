// Tables of custom resources: the name, then the columns of the definition, or the age when it has none.

import type { Column, TablePrinter } from '../tables/printer.ts';
import type { PrinterColumn } from './definition.ts';

const NAME: Column = { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 };
export function customPrinter(columns: readonly PrinterColumn[]): TablePrinter {
  return {
    columns: [NAME, ...columns],
    cells: (object) => [object.metadata.name ?? '', ...columns.map(() => null)],
  };
}
export const scalePrinter = (): TablePrinter => customPrinter([]);
