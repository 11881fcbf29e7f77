// Compiled checks of one value against the constraints of one schema: type, text, format, number, enum. They follow
// the library in kube-apiserver, including its surprising cases. Numbers without a fraction are int64.

import { compilePattern } from '@lapse/base/patterns';
import { equal, type Json, type JsonObject } from '@lapse/kube/api/json';
import { formatCheck } from './formats.ts';
import { notInEnum, type Result, tooLongText, violated, wrongType } from './result.ts';

export type Check<T extends Json = Json> = (value: T, path: string, out: Result) => void;

/** The JSON schema type of a value, and the format of its Go type. */
export function typeOf(value: Json): [type: string, format: string] {
  if (value === null) return ['null', ''];
  if (Array.isArray(value)) return ['array', ''];
  switch (typeof value) {
    case 'string':
      return ['string', ''];
    case 'boolean':
      return ['boolean', ''];
    case 'bigint':
      return ['integer', 'int64'];
    case 'number':
      return isWhole(value) ? ['integer', 'int64'] : ['number', 'float64'];
    default:
      return ['object', ''];
  }
}

/** A whole number outside int64 is a float64. */
export const isWhole = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63;

/** A float64 that JSON would also accept as an integer. */
const isFloatInteger = (value: Json): boolean =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 53;

export function compileType(types: readonly string[], nullable: boolean, format: string): Check | undefined {
  const expected = types.join(',');
  const numeric = types.includes('number') || types.includes('integer');
  const allows = (value: Json, type: string): boolean =>
    types.includes(type) ||
    (type === 'number' && types.includes('integer') && isFloatInteger(value)) ||
    (type === 'integer' && types.includes('number'));
  if (types.length === 0 && format === '') return undefined;
  return (value, path, out) => {
    if (value === null) {
      if (types.length > 0 && !nullable) out.add(wrongType(path, expected, 'null'));
      else out.matches++;
      return;
    }
    const [type, ownFormat] = typeOf(value);
    const textual = type === 'string' || type === 'array';
    const fits = allows(value, type);
    if (format !== '' && !textual && !fits && ownFormat !== format)
      out.add(wrongType(path, format, ownFormat));
    // A format implies its type: lists pass as formatted strings here, as upstream.
    else if (format !== '' && textual && !numeric) out.matches++;
    else if (!fits) out.add(wrongType(path, expected, type));
    else out.matches++;
  };
}

/** Counts characters, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00) length--;
  }
  return length;
}

const numberAt = (schema: JsonObject, key: string): number | undefined => {
  const value = schema[key];
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
};

/** Reports the first violated constraint only: too long, too short, pattern. */
export function compileText(schema: JsonObject): Check<string> | undefined {
  const max = numberAt(schema, 'maxLength');
  const min = numberAt(schema, 'minLength');
  const pattern = typeof schema.pattern === 'string' && schema.pattern !== '' ? schema.pattern : undefined;
  if (max === undefined && min === undefined && pattern === undefined) return undefined;
  return (text, path, out) => {
    if (max !== undefined && text.length > max && lengthOf(text) > max) out.add(tooLongText(path, max));
    else if (min !== undefined && lengthOf(text) < min)
      out.add(violated(path, text, `should be at least ${min} chars long`));
    else if (pattern !== undefined && !isMatch(pattern, text))
      out.add(violated(path, text, `should match '${pattern}'`));
  };
}

/** Invalid patterns are rejected when the CustomResourceDefinition is written; here they match nothing. */
function isMatch(pattern: string, text: string): boolean {
  const compiled = compilePattern(pattern);
  return compiled.kind === 'pattern' && compiled.regexp.test(text);
}

export function compileFormat(format: string): Check<string> | undefined {
  const check = formatCheck(format);
  if (format === '' || check === undefined) return undefined;
  return (text, path, out) => {
    if (!check(text)) out.add(wrongType(path, format, text));
  };
}

export function compileEnum(values: Json | undefined): Check | undefined {
  if (!Array.isArray(values) || values.length === 0) return undefined;
  const texts = new Set(values.filter((v) => typeof v === 'string'));
  return (value, path, out) => {
    if (typeof value === 'string' && texts.has(value)) return;
    // Null never matches an enum, even one that contains it.
    if (value !== null && values.some((allowed) => isSame(value, allowed))) return;
    out.add(notInEnum(path, value, values));
  };
}

/** Numbers are converted to the type of the enum value before the comparison. */
function isSame(value: Json, allowed: Json): boolean {
  if (typeof value === 'number' && typeof allowed === 'number')
    return Number.isInteger(allowed) ? Math.trunc(value) === allowed : value === allowed;
  return equal(value, allowed);
}

export { numberAt };
