// Which recorded cases the embedded server is known not to pass, and why. known.json is the list; a case that is not
// on it must pass and a case that is on it must fail, so the list can only tell the truth.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from './replay/types.ts';

/** What the case waits for; `deliberate` waits for nothing. */
export type Needs = 'cel' | 'apply' | 'rbac' | 'protobuf-answers' | 'todo' | 'deliberate';

export interface Known {
  readonly needs: Needs;
  readonly reason: string;
}

export type KnownList = Readonly<Record<string, Known>>;

const FILE = join(import.meta.dirname, 'known.json');

export const loadKnown = (): KnownList => JSON.parse(readFileSync(FILE, 'utf8')) as KnownList;

export function saveKnown(known: KnownList): void {
  const sorted = Object.fromEntries(Object.entries(known).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** Sentences about cases that did not go as the list says. */
export function surprises(verdicts: ReadonlyMap<string, Verdict>, known: KnownList): string[] {
  const out: string[] = [];
  for (const [title, verdict] of verdicts) {
    const isKnown = Object.hasOwn(known, title);
    if (verdict.kind === 'failed' && !isKnown) out.push(`fails: ${title}: ${verdict.difference}`);
    if (verdict.kind === 'skipped' && !isKnown) out.push(`was skipped: ${title}: ${verdict.why}`);
    if (verdict.kind === 'passed' && isKnown) out.push(`passes and is still in known.json: ${title}`);
  }
  for (const title of Object.keys(known)) {
    if (!verdicts.has(title)) out.push(`is in known.json and nowhere else: ${title}`);
  }
  return out;
}

// What a topic needs as a whole, for cases that nobody has looked at more closely.
const NEEDED_BY_TOPIC: Readonly<Record<string, Needs>> = {
  apply: 'apply',
  'cr-cel': 'cel',
  protobuf: 'protobuf-answers',
};

/** The list after a run: passing cases leave it, new failures join it, reasons of `todo` entries are refreshed. */
export function updated(known: KnownList, verdicts: ReadonlyMap<string, Verdict>): KnownList {
  const out: Record<string, Known> = {};
  for (const [title, verdict] of verdicts) {
    if (verdict.kind === 'passed') continue;
    const reason = verdict.kind === 'failed' ? withoutRunNames(verdict.difference) : verdict.why;
    const listed = known[title];
    if (listed !== undefined && listed.needs !== 'todo') out[title] = listed;
    else out[title] = { needs: NEEDED_BY_TOPIC[title.split(' / ')[0]!] ?? 'todo', reason };
  }
  return out;
}

/** The same failure reads the same in the next run. */
const withoutRunNames = (text: string): string =>
  text
    .replace(/w[0-9a-f]{8}-[0-9a-z]{3}/g, '{{ns}}')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '{{uid}}')
    .replace(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g, '{{time}}')
    .replace(/"resourceVersion":"[0-9]+"/g, '"resourceVersion":"{{rv}}"');
