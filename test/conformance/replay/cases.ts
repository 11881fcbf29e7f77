// The recorded cases, and a runner for many of them at once.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunOptions, runCase } from './runCase.ts';
import { type CaseResult, type Target, titleOf, type WireCase, type WireFile } from './types.ts';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'wire');

export interface Entry {
  readonly title: string;
  readonly file: WireFile;
  readonly wireCase: WireCase;
}

export function loadFiles(): WireFile[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return names.sort().map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as WireFile);
}

export const loadCases = (): Entry[] =>
  loadFiles().flatMap((file) =>
    file.cases.map((wireCase) => ({ title: titleOf(file, wireCase), file, wireCase })),
  );

/** Compaction of the history disturbs all other watches and paged lists, so these run alone, at the end. */
const isDisruptive = (entry: Entry) => JSON.stringify(entry.wireCase).includes('"compact":true');
/** Cases that wait for the server start first, so that the others fill the time. */
const waits = (entry: Entry) => (/"timeoutSeconds"|"sleep"/.test(JSON.stringify(entry.wireCase)) ? 0 : 1);

/** Replays the entries, at most `width` at a time; returns the results by title. */
export async function runAll(
  entries: readonly Entry[],
  target: Target,
  { width, ...options }: RunOptions & { width: number },
): Promise<Map<string, CaseResult>> {
  const results = new Map<string, CaseResult>();
  const runOne = async (entry: Entry) => {
    results.set(entry.title, await runCase(entry.file, entry.wireCase, target, options));
  };
  const together = entries.filter((e) => !isDisruptive(e)).sort((a, b) => waits(a) - waits(b));
  const queue = together.values();
  const worker = async () => {
    for (const entry of queue) await runOne(entry);
  };
  await Promise.all(Array.from({ length: width }, worker));
  for (const entry of entries.filter(isDisruptive)) await runOne(entry);
  return results;
}
