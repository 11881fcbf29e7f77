// Names of CSI drivers: a domain name of at most 63 characters, in any case.

import { type FieldError, invalid, required, tooLong } from '@lapse/kube/api/fieldErrors';
import { subdomainName } from '../names.ts';

export function driverName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(name) > 63) errors.push(tooLong(path, 63));
  for (const complaint of subdomainName(name.toLowerCase())) errors.push(invalid(path, name, complaint));
  return errors;
}
