// The recorded cases and the rules about bad input that the embedded server is known not to pass, with reasons.
// Unlisted cases must pass and listed ones must fail, so the lists are always correct.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CaseResult } from './replay/types.ts';

/** What the case waits for; `deliberate` waits for nothing. */
export type Needs = 'cel' | 'apply' | 'rbac' | 'protobuf-responses' | 'todo' | 'deliberate';

export interface Known {
  readonly needs: Needs;
  readonly reason: string;
}

export type KnownList = Readonly<Record<string, Known>>;

const FILES = {
  wire: join(import.meta.dirname, 'known.json'),
  badInput: join(import.meta.dirname, 'knownBadInput.json'),
};
export type ListName = keyof typeof FILES;

export const loadKnown = (list: ListName): KnownList =>
  JSON.parse(readFileSync(FILES[list], 'utf8')) as KnownList;

export function saveKnown(list: ListName, known: KnownList): void {
  const sorted = Object.fromEntries(Object.entries(known).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(FILES[list], `${JSON.stringify(sorted, null, 2)}\n`);
}

/** Messages about cases whose result is not as listed. */
export function unexpectedResults(results: ReadonlyMap<string, CaseResult>, known: KnownList): string[] {
  const out: string[] = [];
  for (const [title, result] of results) {
    const isKnown = Object.hasOwn(known, title);
    if (result.kind === 'failed' && !isKnown) out.push(`fails: ${title}: ${result.difference}`);
    if (result.kind === 'skipped' && !isKnown) out.push(`was skipped: ${title}: ${result.why}`);
    if (result.kind === 'passed' && isKnown) out.push(`passes and is still listed as known: ${title}`);
  }
  for (const title of Object.keys(known)) {
    if (!results.has(title)) out.push(`is listed as known and does not exist: ${title}`);
  }
  return out;
}

// What a topic needs as a whole, for cases that were not examined further.
const NEEDED_BY_TOPIC: Readonly<Record<string, Needs>> = {
  apply: 'apply',
  access: 'rbac',
  'cr-cel': 'cel',
  protobuf: 'protobuf-responses',
};

/** The list after a run: passing cases are removed, new failures added, reasons of `todo` entries refreshed. */
export function updated(known: KnownList, results: ReadonlyMap<string, CaseResult>): KnownList {
  const out: Record<string, Known> = {};
  for (const [title, result] of results) {
    if (result.kind === 'passed') continue;
    const reason = result.kind === 'failed' ? withoutRunNames(result.difference) : result.why;
    const listed = known[title];
    if (listed !== undefined && listed.needs !== 'todo') out[title] = listed;
    else out[title] = { needs: NEEDED_BY_TOPIC[title.split(' / ')[0]!] ?? 'todo', reason };
  }
  return out;
}

/** Normalized, so that the same failure has the same text in the next run. */
const withoutRunNames = (text: string): string =>
  text
    .replace(/w[0-9a-f]{8}-[0-9a-z]{3}/g, '{{ns}}')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '{{uid}}')
    .replace(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g, '{{time}}')
    .replace(/"resourceVersion":"[0-9]+"/g, '"resourceVersion":"{{rv}}"');
