// The objects that a list or watch selects: by namespace, labels and fields.

import { badRequest } from '@lapse/kube/api/errors';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  type FieldTerm,
  type LabelSelector,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from '@lapse/kube/api/selectors';
import type { Call } from '../context.ts';
import type { ListOptions } from '../http/query.ts';
import type { Resource } from '../resources/resource.ts';
import type { Stored } from '../store/stored.ts';

export interface Selection {
  /** The keys of the selected objects start with this prefix. */
  readonly prefix: string;
  /** A single name from the field selector or the path. */
  readonly name: string | undefined;
  readonly labels: LabelSelector;
  readonly fields: readonly FieldTerm[];
  /** True with any selector: then the number of remaining items is unknown. */
  readonly selective: boolean;
}

export function parseSelection(call: Call, options: ListOptions): Selection {
  const labels = guarded(() => parseLabelSelector(options.labelSelector));
  const fields = guarded(() => parseFieldSelector(options.fieldSelector));
  for (const term of fields) checkField(call.resource, term);
  const name = call.name ?? fields.find((t) => t.field === 'metadata.name' && !t.negated)?.value;
  return {
    prefix: call.namespace ? `${call.namespace}/` : '',
    name,
    labels,
    fields: call.name ? [...fields, { field: 'metadata.name', value: call.name, negated: false }] : fields,
    selective: labels.length + fields.length > 0 || call.name !== undefined,
  };
}

function guarded<T>(parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (cause instanceof SelectorError) throw badRequest(cause.message);
    throw cause;
  }
}

const COMMON = ['metadata.name', 'metadata.namespace'];

function checkField(resource: Resource, { field }: FieldTerm): void {
  const special = resource.fieldLabels.length > 0;
  if (field === 'metadata.name' || resource.fieldLabels.includes(field)) return;
  if (field === 'metadata.namespace' && (resource.namespaced || (!special && !resource.custom))) return;
  if (!special && !resource.custom) {
    const both = COMMON.map((f) => `"${f}"`).join(', ');
    throw badRequest(`"${field}" is not a known field selector: only ${both}`);
  }
  throw badRequest(resource.unsupportedField?.(field) ?? `field label not supported: ${field}`);
}

export function isSelected(resource: Resource, selection: Selection, stored: Stored): boolean {
  if (!stored.key.startsWith(selection.prefix)) return false;
  if (selection.labels.length > 0 && !matchesLabels(selection.labels, stored.labels)) return false;
  if (selection.fields.length === 0) return true;
  return matchesFields(selection.fields, fieldsOf(resource, resource.codec.show(stored)));
}

function fieldsOf(resource: Resource, object: KubeObject): Record<string, string> {
  return {
    ...resource.fields(object),
    'metadata.name': object.metadata.name ?? '',
    'metadata.namespace': object.metadata.namespace ?? '',
  };
}
