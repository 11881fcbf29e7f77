// Validation results in the two forms of the Go library: errors with a field and a type, and remarks without a field
// (anyOf, number ranges). Each text is reported once. `matches` counts passed checks; for anyOf and oneOf the branch
// with the most matches is quoted.

import {
  type FieldError,
  invalid,
  notSupported,
  quoteGo,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '@lapse/kube/api/fieldErrors';
import type { Json } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { sorted } from './listTypes.ts';

/** `at`: the field relative to the root of the validation; errors without one are remarks about the whole. */
export interface SchemaError {
  /** The identity of an error. */
  readonly text: string;
  readonly toFieldError: (at: (name: string) => string) => FieldError;
}

export class Result {
  errors: SchemaError[] = [];
  matches = 0;

  add(error: SchemaError): void {
    if (!this.errors.some((e) => e.text === error.text)) this.errors.push(error);
  }

  merge(other: Result): void {
    for (const error of other.errors) this.add(error);
    this.matches += other.matches;
  }
}

/** A remark about the whole value: field `<nil>` on a custom resource. */
export const remark = (text: string): SchemaError => ({
  text,
  toFieldError: (at) => invalid(at(''), '', text),
});

const located = (
  name: string,
  text: string,
  make: (field: string, text: string) => FieldError,
): SchemaError => ({
  text,
  toFieldError: (at) => make(at(name), text),
});

export const wrongType = (name: string, type: string, value: string): SchemaError =>
  located(name, `${name} in body must be of type ${type}: ${quoteGo(value)}`, (field, text) =>
    typeInvalid(field, value, text),
  );

export const missing = (name: string): SchemaError =>
  located(name, `${name} in body is required`, (field) => required(field));

export const tooLongText = (name: string, max: number): SchemaError =>
  located(name, `${name} in body should be at most ${max} chars long`, (field) => tooLong(field, max));

export const tooManyElements = (name: string, max: number, actual: number, what: string): SchemaError =>
  located(name, `${name} in body should have at most ${max} ${what}`, (field) => tooMany(field, actual, max));

export const notInEnum = (name: string, value: Json, allowed: readonly Json[]): SchemaError =>
  located(name, `${name} in body should be one of ${writeJson([...allowed])}`, (field) =>
    notSupported(
      field,
      sorted(value),
      allowed.map((v) => (typeof v === 'string' ? v : writeJson(sorted(v)))),
    ),
  );

/** All other kinds: `Invalid value: <value>: <name> in body <what>`. */
export const violated = (name: string, value: Json, what: string): SchemaError =>
  located(name, `${name} in body ${what}`, (field, text) => invalid(field, value, text));

/** An error whose text does not follow that pattern. */
export const violatedFully = (name: string, value: Json, text: string): SchemaError =>
  located(name, text, (field) => invalid(field, value, text));

/** A whole number that was compared as a float64 is printed as one: `3e+09`. */
export const violatedFloat = (name: string, shown: string, what: string): SchemaError =>
  located(name, `${name} in body ${what}`, (field, text) => ({
    reason: 'FieldValueInvalid',
    field,
    message: `Invalid value: ${shown}: ${text}`,
  }));
