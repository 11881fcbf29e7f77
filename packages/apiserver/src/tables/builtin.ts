// Tables of the built-in kinds: the columns are recorded from kube-apiserver, the cells are computed here.

import { columnsData } from '../data/tables.ts';
import { ACCESS } from './access.ts';
import { AUTOSCALING } from './autoscaling.ts';
import { nameOf } from './cells.ts';
import { CORE_KINDS } from './coreKinds.ts';
import { eventCells } from './events.ts';
import { NETWORK } from './network.ts';
import { podCells, podConditions } from './pods.ts';
import { POLICIES } from './policies.ts';
import type { Cells, Column, TablePrinter } from './printer.ts';
import { VOLUMES } from './volumes.ts';
import { WORKLOADS } from './workloads.ts';

/** By stored resource: `jobs.batch`, `pods`. */
const CELLS: Readonly<Record<string, Cells>> = {
  pods: podCells,
  events: eventCells,
  'events.events.k8s.io': eventCells,
  ...ACCESS,
  ...AUTOSCALING,
  ...CORE_KINDS,
  ...NETWORK,
  ...POLICIES,
  ...VOLUMES,
  ...WORKLOADS,
};

// Kinds without their own printer show the creation time.
const NAME_AND_CREATION: readonly Omit<Column, 'description'>[] = [
  { name: 'Name', type: 'string', format: 'name', priority: 0 },
  { name: 'Created At', type: 'date', format: '', priority: 0 },
];
const nameAndCreation: Cells = (object) => [
  nameOf(object),
  object.metadata.creationTimestamp ?? '0001-01-01T00:00:00Z',
];

export function builtinPrinter(storage: string): TablePrinter {
  const known = Object.hasOwn(CELLS, storage) ? CELLS[storage] : undefined;
  const recorded = known ? columnsData()[storage] : NAME_AND_CREATION;
  if (!recorded) throw new Error(`no table columns for ${storage}; run npm run generate`);
  const columns = recorded.map((c) => ({ ...c, description: '' }));
  const bare = columns[1]?.name === 'Created At';
  const printer: TablePrinter = {
    columns,
    cells: known ?? nameAndCreation,
    ...(bare ? { bare: true as const } : {}),
  };
  return storage === 'pods' ? { ...printer, conditions: podConditions } : printer;
}
