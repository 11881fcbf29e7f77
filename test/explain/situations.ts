// Situations are pages that people can read: a heading, what is in the cluster, a command, and what it answers. All of
// them are at noon on the first of March 2026.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Situation {
  readonly file: string;
  readonly name: string;
  readonly given: string;
  readonly command: readonly string[];
  readonly answer: string;
}

export function readSituations(): Situation[] {
  const directory = join(import.meta.dirname, 'situations');
  return readdirSync(directory)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((file) => parse(file, readFileSync(join(directory, file), 'utf8')));
}

/** What is in the cluster holds for the situations below it until something else is. */
function parse(file: string, text: string): Situation[] {
  const situations: Situation[] = [];
  let [name, given] = ['', ''];
  const parts = text.matchAll(/^## (.+)$|^```yaml\n([\s\S]*?)^```$|^```console\n\$ (.+)\n([\s\S]*?)^```$/gm);
  for (const [, heading, yaml, command, answer] of parts) {
    if (heading !== undefined) name = heading;
    else if (yaml !== undefined) given = yaml;
    else situations.push({ file, name, given, command: command!.split(' '), answer: answer! });
  }
  return situations;
}
