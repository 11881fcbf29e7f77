// Values that are numbers or percentages: `1`, `"25%"`.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import type { Json } from '@lapse/kube/api/json';
import { nonNegative } from './checks.ts';

const PERCENT = /^[0-9]+%$/;

export const validPercent = (text: string): string[] =>
  PERCENT.test(text)
    ? []
    : [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ];

export const positiveIntOrPercent = (value: Json | undefined, path: string): FieldError[] =>
  typeof value === 'string'
    ? validPercent(value).map((complaint) => invalid(path, value, complaint))
    : nonNegative(Number(value ?? 0), path);

export const notAbove100Percent = (value: Json | undefined, path: string): FieldError[] =>
  typeof value === 'string' && PERCENT.test(value) && Number.parseInt(value, 10) > 100
    ? [invalid(path, value, 'must not be greater than 100%')]
    : [];

/** The number itself, or the number before the percent sign. */
export const amountOf = (value: Json | undefined): number =>
  typeof value === 'string' ? (PERCENT.test(value) ? Number.parseInt(value, 10) : 0) : Number(value ?? 0);
