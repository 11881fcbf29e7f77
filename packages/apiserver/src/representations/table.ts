// meta.k8s.io Table: columns and rows, as printed by kubectl get.

import { badRequest } from '@lapse/kube/api/errors';
import { quoteGo } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import type { Column, TablePrinter } from '../tables/printer.ts';
import { scalePrinter } from '../tables/scale.ts';
import { partialMetadata } from './partial.ts';

export interface TableOptions {
  readonly version: string;
  readonly meta: JsonObject;
  /** Watches send the columns once; later tables have null. */
  readonly columns?: boolean;
}

export function tableOf(call: Call, objects: readonly KubeObject[], options: TableOptions): JsonObject {
  const shown = { ...call, resource: { ...call.resource, printer: printerOf(call, objects) } };
  const row = rowMaker(shown, options.version);
  return { ...tableHead(shown.resource.printer, options), rows: objects.map(row) };
}

/** The Scale of a workload has its own printer. */
const printerOf = ({ resource }: Call, [first]: readonly KubeObject[]): TablePrinter =>
  first?.kind === 'Scale' && !resource.custom ? scalePrinter : resource.printer;

/** A table without its rows. */
export function tableHead({ columns }: TablePrinter, options: TableOptions): JsonObject {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata: options.meta,
    columnDefinitions: (options.columns ?? true) ? columns.map(columnJson) : null,
  };
}

const columnJson = (c: Column): JsonObject => ({
  name: c.name,
  type: c.type,
  format: c.format,
  description: c.description,
  priority: c.priority,
});

/** Makes the rows of one response; throws for an unknown `includeObject` before the first row. */
export function rowMaker(call: Call, version: string): (object: KubeObject) => JsonObject {
  const { printer } = call.resource;
  const include = includeObject(call);
  const now = call.core.clock.now();
  return (object) => {
    const conditions = printer.conditions?.(object);
    return {
      cells: printer.cells(object, now),
      ...(conditions ? { conditions } : {}),
      object: included(object, include, version),
    };
  };
}

type Include = 'None' | 'Metadata' | 'Object';

/** The part of each object that is included in its row. */
export function includeObject(call: Call): Include {
  const raw = call.query.get('includeObject') ?? '';
  if (raw === '') return 'Metadata';
  if (raw === 'None' || raw === 'Metadata' || raw === 'Object') return raw;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quoteGo(raw)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

function included(object: KubeObject, include: Include, version: string): JsonObject | null {
  if (include === 'Object') return asJson(object);
  // The annotation that marks the end of the initial events is always sent.
  const marked = object.metadata.annotations?.[INITIAL_EVENTS_END] === 'true';
  return include === 'None' && !marked ? null : asJson(partialMetadata(object, version));
}
