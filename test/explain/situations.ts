// Situations are readable pages: a heading, the objects in the cluster, a command, and its output. All of them are at
// noon on 1 March 2026.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Situation {
  readonly file: string;
  readonly name: string;
  readonly given: string;
  readonly command: readonly string[];
  readonly answer: string;
}

const directory = join(import.meta.dirname, 'situations');

export function readSituations(): Situation[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((file) => parse(file, readFileSync(join(directory, file), 'utf8')));
}

/** The objects in the cluster apply to the following situations until they are replaced. */
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

/** Replaces the old output by the new one: `UPDATE_SITUATIONS=1`. Review the changes afterwards. */
export function rewriteAnswer({ file, given, command, answer }: Situation, next: string): void {
  const path = join(directory, file);
  const text = readFileSync(path, 'utf8');
  const block = (words: string) => `\`\`\`console\n$ ${command.join(' ')}\n${words}\`\`\``;
  const from = text.indexOf(block(answer), text.indexOf(given));
  if (from < 0) throw new Error(`${file}: the answer to rewrite is not there`);
  writeFileSync(path, text.slice(0, from) + block(next) + text.slice(from + block(answer).length));
}
