// Placeholders. `{{name}}` is a variable; in expectations `{{any:…}}`, `{{gt:…}}` and `{{not:…}}` stand for values
// that differ from run to run.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { Vars } from './types.ts';

export const PATTERNS: Readonly<Record<string, string>> = {
  uid: '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  rv: '[0-9]+',
  time: '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]+)?Z',
  name: '[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?',
  suffix: '[a-z0-9]{5}',
  token: '[A-Za-z0-9_=-]+',
  age: '(?:<unknown>|<invalid>|(?:[0-9]+[ydhms]){1,2})',
  hash: '[0-9A-Fa-f]+',
  word: '[^"]+',
  string: '[\\s\\S]*',
};

export const PLACEHOLDER = /\{\{([^{}]+)\}\}/g;

const isPad = (name: string) => name.startsWith('pad:');
const pad = (name: string) => 'a'.repeat(Number(name.slice('pad:'.length)));

/** Replaces variables and `{{pad:N}}`, and keeps placeholders of expectations. */
export function fillText(text: string, vars: Vars): string {
  return text.replace(PLACEHOLDER, (whole, name: string) => {
    if (isPad(name)) return pad(name);
    return Object.hasOwn(vars, name) ? vars[name]! : whole;
  });
}

/** fillText for every string and key of a value. */
export function fill(value: Json, vars: Vars): Json {
  if (typeof value === 'string') return fillText(value, vars);
  if (Array.isArray(value)) return value.map((v) => fill(v, vars));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [k, v] of Object.entries(value))
    if (v !== undefined) setOwn(out, fillText(k, vars), fill(v, vars));
  return out;
}

// Placeholders that stand for a whole value of a type.
const WHOLE_VALUES: Readonly<Record<string, (actual: Json | undefined) => boolean>> = {
  '{{any}}': (v) => v !== undefined,
  '{{any:int}}': (v) => Number.isInteger(v),
  '{{any:number}}': (v) => typeof v === 'number',
  '{{any:list}}': (v) => Array.isArray(v),
  '{{any:object}}': (v) => isObject(v),
};

/** Whether an actual value matches an expected text, which may contain placeholders. */
export function textFits(expected: string, actual: Json | undefined, vars: Vars): boolean {
  const whole = Object.hasOwn(WHOLE_VALUES, expected) ? WHOLE_VALUES[expected] : undefined;
  if (whole !== undefined) return whole(actual);
  if (typeof actual !== 'string') return false;
  const relation = /^\{\{(gt|not):([^{}]+)\}\}$/.exec(expected);
  if (relation) return relationHolds(relation[1]!, actual, vars[relation[2]!]);
  if (!expected.includes('{{')) return expected === actual;
  return new RegExp(`^(?:${patternOf(expected, vars)})$`).test(actual);
}

function relationHolds(relation: string, actual: string, reference: string | undefined): boolean {
  if (relation === 'not') return actual !== reference;
  return /^[0-9]+$/.test(actual) && reference !== undefined && BigInt(actual) > BigInt(reference);
}

/** A regular expression for a text with placeholders. */
function patternOf(expected: string, vars: Vars): string {
  let pattern = '';
  let last = 0;
  for (const found of expected.matchAll(PLACEHOLDER)) {
    pattern +=
      escapePattern(expected.slice(last, found.index)) + placeholderPattern(found[0], found[1]!, vars);
    last = found.index + found[0].length;
  }
  return pattern + escapePattern(expected.slice(last));
}

function placeholderPattern(whole: string, name: string, vars: Vars): string {
  const any = name.startsWith('any:') ? PATTERNS[name.slice('any:'.length)] : undefined;
  if (any !== undefined) return any;
  if (Object.hasOwn(vars, name)) return escapePattern(vars[name]!);
  return escapePattern(isPad(name) ? pad(name) : whole);
}

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
