// Validation errors as Kubernetes reports them: a field path, a reason and a text, several at once.

import type { Json } from './json.ts';
import { ApiError, type StatusCause } from './status.ts';

export type FieldErrorReason =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** `spec.containers[0].name`, `metadata.labels[app]`; `<nil>` for the root of a custom resource. */
  readonly field: string;
  /** The text without the field: `Invalid value: "x": must not be empty`. */
  readonly message: string;
}

const error = (reason: FieldErrorReason, field: string, message: string): FieldError => ({
  reason,
  field,
  message,
});

/** A value as Go's %#v (strings, numbers, booleans) or JSON (everything else) prints it inside an error. */
export function quoteValue(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'object')
    return JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? JSON.rawJSON(String(v)) : v));
  return String(value);
}

/** Go's strconv.Quote for the characters that differ from JSON. */
export function quoteGo(text: string): string {
  let out = '"';
  for (const ch of text) {
    const code = ch.codePointAt(0)!;
    if (ch === '"' || ch === '\\') out += `\\${ch}`;
    else if (ch === '\n') out += '\\n';
    else if (ch === '\t') out += '\\t';
    else if (ch === '\r') out += '\\r';
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else out += ch;
  }
  return `${out}"`;
}

const withDetail = (head: string, detail: string) => (detail === '' ? head : `${head}: ${detail}`);

export const required = (field: string, detail = ''): FieldError =>
  error('FieldValueRequired', field, withDetail('Required value', detail));
export const invalid = (field: string, value: Json | undefined, detail = ''): FieldError =>
  error('FieldValueInvalid', field, withDetail(`Invalid value: ${quoteValue(value)}`, detail));
export const typeInvalid = (field: string, value: Json | undefined, detail = ''): FieldError =>
  error('FieldValueTypeInvalid', field, withDetail(`Invalid value: ${quoteValue(value)}`, detail));
export const duplicate = (field: string, value: Json | undefined): FieldError =>
  error('FieldValueDuplicate', field, `Duplicate value: ${quoteValue(value)}`);
export const notFound = (field: string, value: Json | undefined): FieldError =>
  error('FieldValueNotFound', field, `Not found: ${quoteValue(value)}`);
export const forbidden = (field: string, detail: string): FieldError =>
  error('FieldValueForbidden', field, withDetail('Forbidden', detail));
export const notSupported = (field: string, value: Json | undefined, values: readonly string[]): FieldError =>
  error(
    'FieldValueNotSupported',
    field,
    withDetail(
      `Unsupported value: ${quoteValue(value)}`,
      values.length === 0 ? '' : `supported values: ${values.map(quoteGo).join(', ')}`,
    ),
  );
export const tooLong = (field: string, max: number): FieldError =>
  error('FieldValueTooLong', field, max >= 0 ? `Too long: may not be more than ${max} bytes` : 'Too long');
export const tooMany = (field: string, actual: number, max: number): FieldError =>
  error('FieldValueTooMany', field, `Too many: ${actual}: must have at most ${max} items`);
export const internalError = (field: string, detail: string): FieldError =>
  error('InternalError', field, withDetail('Internal error', detail));

const causeOf = (e: FieldError): StatusCause => ({ reason: e.reason, message: e.message, field: e.field });

/** 422 Invalid. The message names each distinct error once; the causes list all of them. */
export function invalidError(
  gk: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const texts = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))];
  const summary = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
  const kind = gk.group === '' ? gk.kind : `${gk.kind}.${gk.group}`;
  return new ApiError(422, 'Invalid', `${kind} ${quoteGo(name)} is invalid: ${summary}`, {
    ...(name === '' ? {} : { name }),
    ...(gk.group === '' ? {} : { group: gk.group }),
    kind: gk.kind,
    causes: errors.map(causeOf),
  });
}
