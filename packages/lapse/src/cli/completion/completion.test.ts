import { spawnSync } from 'node:child_process';
import { Argument, Command, Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { describeCommands } from './tree.ts';
import { zshScript } from './zsh.ts';

const plan = new Command('plan')
  .description("what will end; don't worry [yet]: it's $HOME `safe`")
  .option('--for <length>', 'how far ahead')
  .option('--dry-run [true|false]', 'only look')
  .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']))
  .addOption(new Option('--secret').hideHelp());
const checkpoint = new Command('checkpoint').description('look into checkpoints');
checkpoint.command('show').description('one of them').option('--raw', 'as it is').argument('<name>');
const completion = new Command('completion').addArgument(new Argument('<shell>').choices(['bash', 'zsh']));
const commands = describeCommands([plan, checkpoint, completion]);

test('the model has the commands, their flags and their choices', () => {
  expect(commands.map(({ path }) => path)).toEqual([
    '',
    'plan',
    'checkpoint',
    'checkpoint show',
    'completion',
  ]);
  const [root, first, second, , last] = commands;
  expect(root!.children).toEqual(['plan', 'checkpoint', 'completion', 'help']);
  expect(
    first!.flags.map(({ long, short, takesValue, choices }) => [long, short, takesValue, choices]),
  ).toEqual([
    ['--for', '', true, []],
    ['--dry-run', '', false, []],
    ['--output', '-o', true, ['text', 'json']],
    ['--help', '-h', false, []],
  ]);
  expect(second!.children).toEqual(['show']);
  expect(last!.choices).toEqual(['bash', 'zsh']);
});

const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;

const LINES: readonly [rule: string, line: string[], offered: string[]][] = [
  ['commands', ['lapse', 'c'], ['checkpoint', 'completion']],
  ['flags', ['lapse', 'plan', '--'], ['--for', '--dry-run', '--output', '--help']],
  ['values of a choice', ['lapse', 'plan', '-o', ''], ['text', 'json']],
  ['values after =', ['lapse', 'plan', '--output', '=', 'j'], ['json']],
  ['subcommands of a command', ['lapse', 'checkpoint', ''], ['show']],
  ['flags of a subcommand', ['lapse', 'checkpoint', 'show', '--r'], ['--raw']],
  ['arguments that are a choice', ['lapse', 'completion', 'z'], ['zsh']],
  ['files for a flag with any value', ['lapse', 'plan', '--for', 'tree'], ['tree.ts']],
  ['files as an argument', ['lapse', 'plan', 'fish'], ['fish.ts']],
];

/**
 * What bash offers for lines whose last word is incomplete, in one bash process. test/cmd/completion.kube.ts tests
 * more.
 */
function offered(lines: readonly (readonly string[])[]): string[][] {
  const calls = lines.map((line) => {
    const words = line.map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _lapse; echo "\${COMPREPLY[@]}"`;
  });
  const { stdout, stderr, status } = spawnSync(
    'bash',
    ['--norc', '-c', [bashScript('lapse', commands), ...calls].join('\n')],
    { encoding: 'utf8', cwd: import.meta.dirname },
  );
  expect([stderr, status]).toEqual(['', 0]);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '));
}

test.runIf(hasShell('bash'))('bash offers the expected words', () => {
  const answers = offered(LINES.map(([, line]) => line));
  expect(LINES.map(([rule], at) => [rule, answers[at]])).toEqual(
    LINES.map(([rule, , words]) => [rule, words]),
  );
});

describe.each([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
] as const)('%s', (shell, write) => {
  const script = write('lapse', commands);
  test('contains every command and every visible flag', () => {
    for (const word of ['plan', 'checkpoint', 'show', 'for', 'output', 'raw']) expect(script).toContain(word);
    expect(script).not.toContain('secret');
  });
  test.runIf(hasShell(shell))('is valid shell syntax', () => {
    const { stderr, status } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
  });
});
