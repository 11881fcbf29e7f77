// Validation errors as Kubernetes reports them: a list of field paths, reasons and messages.

import type { Json } from './json.ts';
import { writeJson } from './jsonWrite.ts';
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
  | 'FieldValueTooFew'
  | 'FieldValueTooShort'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

export interface FieldError {
  readonly reason: FieldErrorReason;
  /** `spec.containers[0].name`, `metadata.labels[app]`; `<nil>` for the root of a custom resource. */
  readonly field: string;
  /** The message without the field: `Invalid value: "x": must not be empty`. */
  readonly message: string;
}

const error = (reason: FieldErrorReason, field: string, message: string): FieldError => ({
  reason,
  field,
  message,
});

/** Formats a value like Go does in an error: quoted strings, plain numbers, JSON for everything else. */
export function quoteValue(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return quoteGo(value);
  if (typeof value === 'object') return writeJson(value).replace(HTML, escapeUnit);
  return typeof value === 'number' ? formatFloat(value) : String(value);
}

/** encoding/json escapes these characters, which is visible in messages. */
const HTML = /[<>&\u2028\u2029]/g;
const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Integers as digits; other numbers like Go's %v, which switches to exponents early: 1234567.5 is 1.2345675e+06. */
function formatFloat(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const GO_ESCAPES: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
const UNPRINTABLE = /["\\]|[^ \p{L}\p{M}\p{N}\p{P}\p{S}]/gu;

function escapeRune(rune: string): string {
  const short = GO_ESCAPES[rune];
  if (short !== undefined) return short;
  const code = rune.codePointAt(0)!;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Go's strconv.Quote. */
export const quoteGo = (text: string): string => `"${text.replace(UNPRINTABLE, escapeRune)}"`;

const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;
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
  error(
    'FieldValueTooLong',
    field,
    `Too long: ${max >= 0 ? `may not be more than ${count(max, 'byte')}` : 'value is too long'}`,
  );
export const tooMany = (field: string, actual: number, max: number): FieldError =>
  error(
    'FieldValueTooMany',
    field,
    withDetail(
      actual >= 0 ? `Too many: ${actual}` : 'Too many',
      max >= 0 ? `must have at most ${count(max, 'item')}` : 'has too many items',
    ),
  );
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
    ...(gk.kind === '' ? {} : { kind: gk.kind }),
    causes: errors.map(causeOf),
  });
}
