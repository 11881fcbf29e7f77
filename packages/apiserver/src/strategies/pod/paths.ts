// Validation of paths inside volumes and containers.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';

export const noBacksteps = (target: string, path: string): FieldError[] =>
  target.split('/').includes('..') ? [invalid(path, target, "must not contain '..'")] : [];

/** Relative, without `..`. */
export const descendingPath = (target: string, path: string): FieldError[] => [
  ...(target.startsWith('/') ? [invalid(path, target, 'must be a relative path')] : []),
  ...noBacksteps(target, path),
];

/** The same, and not a name reserved by the kubelet. */
export const localPath = (target: string, path: string): FieldError[] => [
  ...descendingPath(target, path),
  ...(target.startsWith('..') && !target.startsWith('../')
    ? [invalid(path, target, "must not start with '..'")]
    : []),
];

export const fileMode = (mode: number | undefined, path: string): FieldError[] =>
  mode !== undefined && (mode > 0o777 || mode < 0)
    ? [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
    : [];
