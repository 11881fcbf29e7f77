// Field selectors that built-in kinds support besides metadata.name and metadata.namespace.

import type { KubeObject } from '#api/object';

export interface SelectableFields {
  readonly labels: readonly string[];
  values(object: KubeObject): Record<string, string>;
}

const NONE: SelectableFields = { labels: [], values: () => ({}) };

/** By store table: `jobs.batch`, `pods`. */
const FIELDS: Readonly<Record<string, SelectableFields>> = {};

export const fieldsOf = (storage: string): SelectableFields =>
  Object.hasOwn(FIELDS, storage) ? FIELDS[storage]! : NONE;
