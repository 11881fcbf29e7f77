// Query parameters, parsed like the Kubernetes options structs: lenient booleans, strict numbers.

import { parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';
import { badRequest } from '@lapse/kube/api/errors';
import {
  type FieldError,
  forbidden,
  invalid,
  invalidError,
  notSupported,
  quoteGo,
  tooLong,
} from '@lapse/kube/api/fieldErrors';
import { parseFieldSelector, parseLabelSelector, SelectorError } from '@lapse/kube/api/selectors';

export type Query = URLSearchParams;

/** Like Go's url.ParseQuery: drops a pair with an invalid escape or a semicolon and keeps the others. */
export function parseQuery(text: string): Query {
  const query = new URLSearchParams();
  for (const pair of text.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const eq = pair.indexOf('=');
    const name = unescapeQuery(eq < 0 ? pair : pair.slice(0, eq));
    const value = unescapeQuery(eq < 0 ? '' : pair.slice(eq + 1));
    if (name !== undefined && value !== undefined) query.append(name, value);
  }
  return query;
}

function unescapeQuery(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** `0` and `false`, in any case, are false; every other value is true, including the empty one. */
export function booleanParam(query: Query, name: string): boolean | undefined {
  const raw = query.get(name);
  if (raw === null) return undefined;
  return !/^(0|false)$/i.test(raw);
}

export function integerParam(query: Query, name: string): number | undefined {
  const raw = query.get(name);
  if (raw === null) return undefined;
  const refuse = (why: string) => badRequest(`strconv.ParseInt: parsing ${quoteGo(raw)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(raw)) throw refuse('invalid syntax');
  const value = BigInt(raw.replace('+', ''));
  if (BigInt.asIntN(64, value) !== value) throw refuse('value out of range');
  return Number(value);
}

/** The timeout requested by the client. */
export function timeoutParam(query: Query): Millis | undefined {
  const raw = query.get('timeout');
  if (!raw) return undefined;
  try {
    return millis(Number(parseGoDuration(raw)) / NANOS_A_MILLI);
  } catch (cause) {
    throw badRequest(`invalid timeout specified in the request URL - ${(cause as Error).message}`);
  }
}

const NANOS_A_MILLI = 1e6;

/** Rejects an invalid duration before all other checks. */
export function checkTimeout(query: Query): void {
  timeoutParam(query);
}

export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly limit: number;
  readonly continue: string;
  readonly sendInitialEvents: boolean | undefined;
}

export function parseListOptions(query: Query, watchPath: boolean): ListOptions {
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    watch: watchPath || (booleanParam(query, 'watch') ?? false),
    allowWatchBookmarks: booleanParam(query, 'allowWatchBookmarks') ?? false,
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: integerParam(query, 'timeoutSeconds'),
    limit: integerParam(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
    sendInitialEvents: booleanParam(query, 'sendInitialEvents'),
  };
  // Selectors are parsed before the validation: a parse error takes precedence over validation errors.
  checkSelectors(options);
  const errors = options.watch ? validateWatch(options) : validateList(options);
  if (errors.length > 0) throw invalidError({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
  return options;
}

function checkSelectors({ labelSelector, fieldSelector }: ListOptions): void {
  try {
    parseLabelSelector(labelSelector);
    parseFieldSelector(fieldSelector);
  } catch (cause) {
    if (cause instanceof SelectorError) throw badRequest(cause.message);
    throw cause;
  }
}

const MATCH = 'resourceVersionMatch';

function validateWatch(o: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (o.sendInitialEvents !== undefined && o.resourceVersionMatch === '') {
    errors.push(forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (o.resourceVersionMatch === '') return errors;
  if (o.sendInitialEvents === undefined) {
    errors.push(
      forbidden(MATCH, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    );
  }
  if (o.resourceVersionMatch !== 'NotOlderThan') {
    if (o.sendInitialEvents !== undefined) {
      errors.push(
        forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
      );
    }
    errors.push(notSupported(MATCH, o.resourceVersionMatch, ['NotOlderThan']));
  }
  if (o.continue !== '')
    errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
  return errors;
}

function validateList(o: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (o.resourceVersionMatch !== '') {
    if (o.resourceVersion === '') {
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if (o.continue !== '')
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    if (o.resourceVersionMatch !== 'Exact' && o.resourceVersionMatch !== 'NotOlderThan') {
      errors.push(notSupported(MATCH, o.resourceVersionMatch, ['Exact', 'NotOlderThan', '']));
    }
    if (o.resourceVersionMatch === 'Exact' && o.resourceVersion === '0') {
      errors.push(forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (o.sendInitialEvents !== undefined) {
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return errors;
}

export type WriteVerb = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: string | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
}

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
}

/** `more`: errors of options that only some requests have. */
export function parseWriteOptions(
  query: Query,
  kind: WriteVerb,
  more: readonly FieldError[] = [],
): WriteOptions {
  const dryRun = query.getAll('dryRun').filter((v) => v !== '');
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const errors = [
    ...validateDryRun(dryRun),
    ...validateFieldManager(fieldManager),
    ...validateFieldValidation(fieldValidation),
    ...more,
  ];
  if (errors.length > 0) throw invalidError({ group: 'meta.k8s.io', kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: (fieldValidation || 'Warn') as WriteOptions['fieldValidation'],
  };
}

export function validateDryRun(dryRun: readonly string[]): FieldError[] {
  return dryRun.every((v) => v === 'All') ? [] : [notSupported('dryRun', [...dryRun], ['All'])];
}

function validateFieldManager(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > 128) errors.push(tooLong('fieldManager', 128));
  let position = 0;
  for (const ch of manager) {
    if (!isPrintable(ch)) {
      const code = ch.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid('fieldManager', manager, `invalid character U+${code} (at position ${position})`));
      break;
    }
    position += Buffer.byteLength(ch);
  }
  return errors;
}

const isPrintable = (ch: string) => ch === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(ch);

function validateFieldValidation(value: string): FieldError[] {
  const allowed = ['', 'Ignore', 'Strict', 'Warn'];
  return allowed.includes(value) ? [] : [notSupported('fieldValidation', value, allowed)];
}
