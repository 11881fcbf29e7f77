// meta.k8s.io Table: columns and rows, as kubectl get prints them.

import { badRequest } from '#api/errors';
import type { Json, JsonObject } from '#api/json';
import { asJson, type KubeObject } from '#api/object';
import type { Call } from '../context.ts';
import type { Column } from '../tables/printer.ts';
import { partialMetadata } from './partial.ts';

export interface TableOptions {
  readonly version: string;
  readonly meta: JsonObject;
  /** Watches send the columns once; later tables carry null. */
  readonly columns?: boolean;
}

export function tableOf(call: Call, objects: readonly KubeObject[], options: TableOptions): JsonObject {
  const { printer } = call.resource;
  const include = includeObject(call);
  const now = call.core.clock.now();
  const showColumns = (options.columns ?? true) && call.query.get('noHeaders') !== 'true';
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.meta,
    columnDefinitions: showColumns ? printer.columns.map(columnJson) : null,
    rows: objects.map((object) => ({ cells: printer.cells(object, now), ...included(object, include) })),
  };
}

const columnJson = (c: Column): JsonObject => ({
  name: c.name,
  type: c.type,
  format: c.format,
  description: c.description,
  priority: c.priority,
});

type Include = 'None' | 'Metadata' | 'Object';

/** Which part of each object rides along with its row. */
export function includeObject(call: Call): Include {
  const raw = call.query.get('includeObject') ?? '';
  if (raw === '') return 'Metadata';
  if (raw === 'None' || raw === 'Metadata' || raw === 'Object') return raw;
  throw badRequest(
    `Table.meta.k8s.io "" is invalid: includeObject: Invalid value: "${raw}": must be 'Metadata', 'Object', 'None', or empty`,
  );
}

function included(object: KubeObject, include: Include): { object?: Json } {
  if (include === 'None') return { object: null };
  return { object: asJson(include === 'Object' ? object : partialMetadata(object)) };
}
