// The columns of `kubectl get`, per served resource, as named in the real server's Table answer to a list.

import type { Bed } from '../../test/kube/bed/bed.ts';
import type { ServedResource } from './resources.ts';

interface ColumnDefinition {
  name: string;
  type: string;
  format: string;
  priority: number;
}

/** `resource.group` (`pods`, `jobs.batch`) → its columns. */
export type Columns = Record<string, ColumnDefinition[]>;

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

export async function generateColumns(bed: Bed, resources: ServedResource[]): Promise<Columns> {
  const columns: Columns = {};
  for (const { group, version, resource, verbs } of resources) {
    if (!verbs.includes('list')) continue;
    const path = group ? `/apis/${group}/${version}/${resource}` : `/api/${version}/${resource}`;
    const table = (await bed.getJson(path, TABLE)) as { columnDefinitions: ColumnDefinition[] };
    columns[group ? `${resource}.${group}` : resource] = table.columnDefinitions.map(
      ({ name, type, format, priority }) => ({ name, type, format, priority }),
    );
  }
  return columns;
}
