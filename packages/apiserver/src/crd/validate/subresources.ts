// Subresources and printer columns of a version: their JSON paths, types and formats.

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { PrinterColumn, ScaleSubresource, Subresources } from '../crd.ts';

export function validateSubresources(subresources: Subresources | undefined, path: string): FieldError[] {
  return subresources?.scale ? validateScale(subresources.scale, `${path}.scale`) : [];
}

function validateScale(scale: ScaleSubresource, path: string): FieldError[] {
  const errors = [
    ...replicasPath(scale.specReplicasPath, `${path}.specReplicasPath`, '.spec'),
    ...replicasPath(scale.statusReplicasPath, `${path}.statusReplicasPath`, '.status'),
  ];
  const selector = scale.labelSelectorPath;
  if (!selector) return errors;
  const field = `${path}.labelSelectorPath`;
  const simple = simplePath(selector, field);
  if (simple.length > 0) errors.push(...simple);
  else if (!selector.startsWith('.spec.') && !selector.startsWith('.status.')) {
    errors.push(invalid(field, selector, 'should be a json path under either .spec or .status'));
  }
  return errors;
}

function replicasPath(value: string, field: string, root: string): FieldError[] {
  if (value === '') return [required(field)];
  const simple = simplePath(value, field);
  if (simple.length > 0 || value.startsWith(`${root}.`)) return simple;
  return [invalid(field, value, `should be a json path under ${root}`)];
}

/** A non-empty path starts with a dot; the rest is not validated here. */
function simplePath(value: string, field: string): FieldError[] {
  return value.startsWith('.') ? [] : [invalid(field, value, 'must be a simple json path starting with .')];
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export function validateColumn(column: PrinterColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const oneOf = (values: string[]) => `must be one of ${values.join(',')}`;
  if (column.name === '') errors.push(required(`${path}.name`));
  if (column.type === '') errors.push(required(`${path}.type`, oneOf(COLUMN_TYPES)));
  else if (!COLUMN_TYPES.includes(column.type)) {
    errors.push(invalid(`${path}.type`, column.type, oneOf(COLUMN_TYPES)));
  }
  if (column.format && !COLUMN_FORMATS.includes(column.format)) {
    errors.push(invalid(`${path}.format`, column.format, oneOf(COLUMN_FORMATS)));
  }
  if (column.jsonPath === '') errors.push(required(`${path}.JSONPath`));
  else errors.push(...simplePath(column.jsonPath, `${path}.JSONPath`));
  return errors;
}
