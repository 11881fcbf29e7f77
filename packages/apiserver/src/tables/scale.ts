// Table of the scale subresource of built-in workloads.

import { ageOf, get, int, nameOf } from './cells.ts';
import type { Column, TablePrinter } from './printer.ts';

const column = (name: string, type: string): Column => ({
  name,
  type,
  format: '',
  description: '',
  priority: 0,
});

export const scalePrinter: TablePrinter = {
  columns: [
    column('Name', 'string'),
    column('Desired', 'integer'),
    column('Available', 'integer'),
    column('Age', 'string'),
  ],
  cells: (scale, now) => [
    nameOf(scale),
    int(get(scale, 'spec', 'replicas')),
    int(get(scale, 'status', 'replicas')),
    ageOf(scale, now),
  ],
};
