// The command line as users run it, without starting a process: run.test.ts starts it, cli.soak.ts covers usage errors.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { exitCodesHelp, exitCodesTable } from 'lapse/cli/exitCodes';
import { withHelpStyle } from 'lapse/cli/help';
import { expect, test } from 'vitest';

const cli = join(import.meta.dirname, '../../packages/lapse/src/cli');
const files = new Map(
  [
    ...readFileSync(join(cli, 'cli.ts'), 'utf8').matchAll(
      /^ {2}(\w+): async \(\) => \(await import\('(\.\/(?:\1\/)?\1Command\.ts)'\)\)/gm,
    ),
  ].map(([, name, file]) => [name!, join(cli, file!)]),
);
const names = [...files.keys()];
const load = async (name: string) =>
  (await import(files.get(name)!)) as Record<string, (all?: unknown) => Command>;

test('the command files are found', () => {
  expect(names).toEqual(expect.arrayContaining(['up', 'run', 'plan', 'server', 'completion']));
});

test.each(names)('lapse %s loads, and its help describes its purpose', async (name) => {
  const loaded = await load(name);
  const command = loaded[`${name}Command`]!(async () => []);
  expect(command.name()).toBe(name);
  expect(command.description()).not.toBe('');
  const help = withHelpStyle(command).helpInformation();
  expect(help).toMatch(new RegExp(`^Usage: ${name} [^]*--help`));
  expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
});

test.each(['plan', 'explain', 'simulate'])(
  'the help and the page of lapse %s have the same table of exit codes',
  (name) => {
    const page = readFileSync(join(cli, `../../../../docs/tasks/${name}.md`), 'utf8');
    expect(page).toContain(`\n${exitCodesTable()}\n`);
    const source = readFileSync(files.get(name)!, 'utf8');
    expect(source).toMatch(/\$\{exitCodesHelp\(\)\}/);
    expect(page.match(/exit code/gi)!.length).toBeLessThanOrEqual(2);
  },
);

test('the exit codes of the help fit a narrow terminal', () => {
  expect(
    exitCodesHelp()
      .split('\n')
      .filter((line) => line.length > 80),
  ).toEqual([]);
});

test.each([
  ['up', 'act-as', 'controller'],
  ['up', 'feature-gates', 'AllAlpha=true'],
  ['up', 'metrics-bind-address', '0'],
  ['simulate', 'act-as', 'controller'],
  ['run', 'act-as', 'author'],
])('lapse %s --help shows the default of --%s: %s', async (name, flag, value) => {
  const loaded = await load(name);
  const option = loaded[`${name}Command`]!().options.find(({ long }) => long === `--${flag}`);
  expect(option?.description.match(/\(default: [^)]*\)/g)).toEqual([`(default: ${value})`]);
});
