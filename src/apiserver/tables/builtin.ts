// Tables of the built-in kinds: the columns are recorded from the real server, the cells are computed here.

import type { KubeObject } from '#api/object';
import { type Instant, parseTime } from '#base/instant';
import { columnsData } from '../data.ts';
import { formatAge } from './age.ts';
import type { Column, TablePrinter } from './printer.ts';

export function builtinPrinter(storage: string): TablePrinter {
  const columns: Column[] = (columnsData()[storage] ?? NAME_AND_AGE).map((c) => ({ ...c, description: '' }));
  return { columns, cells: (object, now) => [object.metadata.name ?? '', ageOf(object, now)] };
}

const NAME_AND_AGE = [
  { name: 'Name', type: 'string', format: 'name', priority: 0 },
  { name: 'Age', type: 'string', format: '', priority: 0 },
];

export function ageOf(object: KubeObject, now: Instant): string {
  const { creationTimestamp } = object.metadata;
  return creationTimestamp ? formatAge(parseTime(creationTimestamp), now) : '<unknown>';
}
