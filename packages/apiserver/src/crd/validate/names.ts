// Validation of the names of a CRD, for both requested and accepted names.

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import { label1035Name } from '../../strategies/names.ts';
import type { Names } from '../crd.ts';

export function validateNames(names: Names, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const label = (field: string, value: string) => {
    const complaints = label1035Name(value);
    if (complaints.length > 0) errors.push(invalid(`${path}.${field}`, value, complaints.join(',')));
  };
  const kind = (field: string, value: string) => {
    const complaints = label1035Name(value.toLowerCase());
    const text = `may have mixed case, but should otherwise match: ${complaints.join(',')}`;
    if (complaints.length > 0) errors.push(invalid(`${path}.${field}`, value, text));
  };
  if (names.plural) label('plural', names.plural);
  if (names.singular) label('singular', names.singular);
  if (names.kind) kind('kind', names.kind);
  if (names.listKind) kind('listKind', names.listKind);
  for (const [i, name] of names.shortNames.entries()) label(`shortNames[${i}]`, name);
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [i, name] of names.categories.entries()) label(`categories[${i}]`, name);
  return errors;
}

/** The required names. */
export function requireNames(names: Names, path: string): FieldError[] {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((field) => names[field] === '')
    .map((field) => required(`${path}.${field}`));
}
