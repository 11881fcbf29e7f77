// Checks docs against the code: commands and npm scripts exist, flags are accepted.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ELSEWHERE, PAGES } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const skipped = new Set(['node_modules', '.git', 'dist', '.lapse', 'fixtures']);

function markdownUnder(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((e) => {
    if (skipped.has(e.name)) return [];
    const path = join(directory, e.name);
    if (e.isDirectory()) return markdownUnder(path);
    return e.name.endsWith('.md') ? [relative(root, path)] : [];
  });
}

const pages = markdownUnder(root).map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

const commands = [
  ...readFileSync(join(root, 'packages/lapse/src/cli/cli.ts'), 'utf8').matchAll(
    /^ {2}'?([a-z][\w-]*)'?: async \(\) =>/gm,
  ),
].map((m) => m[1]!);
const SHOWN = new RegExp(
  `(?:^|[\\s\`(])(?:bin/)?lapse (${commands.join('|')})((?: --?[a-z][\\w-]*(?:[ =][^\\s\`-]\\S*)?)*)`,
  'gm',
);

const helps = new Map<string, string>();
function helpOf(command: string): string {
  const help =
    helps.get(command) ?? execFileSync(join(root, 'bin/lapse'), [command, '--help'], { encoding: 'utf8' });
  helps.set(command, help);
  return help;
}

describe.each(pages)('$path', ({ text }) => {
  test('every npm script it names exists', () => {
    const named = [...text.matchAll(/npm run ([a-z][a-z:-]*)/g)].map((m) => m[1]!);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });

  // The first page that shows all commands starts each of them once.
  test('every flag of a lapse command it shows is accepted', { timeout: 240_000 }, () => {
    const shown = [...text.matchAll(SHOWN)];
    for (const [, command, flags] of shown) {
      const help = helpOf(command!);
      for (const [flag] of flags!.matchAll(/--[a-z][\w-]*/g))
        expect(help, `${command} ${flag}`).toContain(flag);
    }
  });
});

test('the commands of every page are run', () => {
  const known = new Set([...PAGES.map(({ page }) => page), ...Object.keys(ELSEWHERE)]);
  const read = pages.filter(({ path }) => /^(README\.md|docs\/|examples\/|test\/README\.md)/.test(path));
  const withCommands = read.filter(({ text }) => /^```(sh|console)$/m.test(text)).map(({ path }) => path);
  expect(withCommands.filter((path) => !known.has(path))).toEqual([]);
  expect([...known].filter((path) => !withCommands.includes(path))).toEqual([]);
});

test('every command of the program is covered', () => {
  const program = execFileSync(join(root, 'bin/lapse'), ['--help'], { encoding: 'utf8' });
  const listed = [...program.split('Commands:')[1]!.matchAll(/^ {2}([a-z]+)/gm)].map((m) => m[1]!);
  expect(commands.sort()).toEqual(listed.filter((name) => name !== 'help').sort());
  for (const command of commands) expect(helpOf(command), command).toContain(`Usage: lapse ${command}`);
});

test('every reference of the README is defined, and every definition used', () => {
  const { text } = pages.find((p) => p.path === 'README.md')!;
  const used = new Set([...text.matchAll(/\]\[([\w-]+)\]/g)].map((m) => m[1]!));
  const defined = new Set([...text.matchAll(/^\[([\w-]+)\]: /gm)].map((m) => m[1]!));
  expect([...used].sort()).toEqual([...defined].sort());
});

test('the README starts with the two commands', () => {
  const readme = pages.find((p) => p.path === 'README.md')!.text;
  expect(readme).toContain('npm ci && npm start');
  expect(readme).toContain('npm ci && npm test');
});

test('CONTRIBUTING lists every npm script', () => {
  const { text } = pages.find((p) => p.path === 'CONTRIBUTING.md')!;
  const missing = Object.keys(scripts).filter(
    (name) => !text.includes(name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`),
  );
  expect(missing).toEqual([]);
});
