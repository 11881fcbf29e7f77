// The completion scripts in their shells: which candidates are offered while the last word of a line is being typed.
// zsh runs in a separate terminal, fish by itself, bash as its library calls a completion.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { bashScript } from 'lapse/cli/completion/bash';
import { fishScript } from 'lapse/cli/completion/fish';
import { describeCommands } from 'lapse/cli/completion/tree';
import { zshScript } from 'lapse/cli/completion/zsh';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FoundShell, findShell, type Shell } from './shells.ts';

const lapse = join(import.meta.dirname, '../../bin/lapse');

/** Descriptions with characters that are special in shells. */
const plan = new Command('plan')
  .description("what will end; don't worry [yet]: it's $HOME `safe` \\ (so %far)")
  .option('--for <length>', 'how far ahead: "7d"')
  .option('--dry-run [true|false]', 'only look')
  .addOption(new Option('-o, --output <format>', 'text or json').choices(['text', 'json']))
  .addOption(new Option('--secret').hideHelp());
const checkpoint = new Command('checkpoint').description('look into checkpoints');
checkpoint.command('show').description('one of them').option('--raw', 'as it is').argument('<name>');
const completion = new Command('completion').addArgument(new Argument('<shell>').choices(['bash', 'zsh']));
const commands = describeCommands([plan, checkpoint, completion]);

const scratch = mkdtempSync(join(tmpdir(), 'lapse-completion-'));
writeFileSync(join(scratch, 'tree.txt'), '');
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

type Offer = (script: string, lines: readonly string[]) => string[][];

function say(shell: FoundShell, args: readonly string[]): string {
  const env = { ...process.env, ...shell.env, HOME: scratch, TERM: 'dumb' };
  return execFileSync(shell.path, args, { cwd: scratch, env, encoding: 'utf8', timeout: 120_000 });
}

/** Answers to lines, each terminated by a separate line. */
const answersIn = (out: string): string[][] =>
  out
    .split('== end\n')
    .slice(0, -1)
    .map((answer) => answer.split('\n').filter(Boolean).sort());

const offerFish =
  (shell: FoundShell): Offer =>
  (script, lines) => {
    writeFileSync(join(scratch, 'lapse.fish'), script);
    const ask = 'for line in $argv; complete -C $line; echo "== end"; end';
    const out = say(shell, ['--no-config', '-c', `source lapse.fish; ${ask}`, ...lines]);
    // Word, tab, description; a joined value includes its flag.
    return answersIn(out.replace(/\t.*$/gm, '').replace(/^--\w+=/gm, ''));
  };

/** `COMP_WORDS` splits at `=`. */
const offerBash =
  (shell: FoundShell): Offer =>
  (script, lines) =>
    lines.map((line) => {
      const words = line.replace('=', ' = ').replace(/= $/, '=').split(' ');
      const call = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _lapse`;
      const out = say(shell, ['--norc', '-c', `${script}\n${call}; printf '%s\\n' "\${COMPREPLY[@]}"`]);
      return out.split('\n').filter(Boolean).sort();
    });

/** Where an unpacked zsh has its modules and functions. */
const zshPaths = ({ root }: FoundShell): string =>
  root === undefined
    ? ''
    : `module_path=(${root}/usr/lib/*/zsh/*(/)); fpath=($fpath ${root}/usr/share/zsh/functions/**/*(/N))`;

/** Records the candidates; the widget itself inserts nothing. */
const insideZsh = (shell: FoundShell, load: string): string => `
${zshPaths(shell)}
PROMPT=; unsetopt prompt_cr prompt_sp
zmodload zsh/zle zsh/complete zsh/complist zsh/computil zsh/parameter zsh/zutil
setopt zle
${load}
compadd() {
  local -a hits
  case " \${(j: :)@[1,\${@[(i)--]}]} " in (*' -'[OAD]' '*) builtin compadd "$@"; return ;; esac
  builtin compadd -O hits "$@"
  ((\${#hits})) && print -rl -- $hits >> heard
  builtin compadd "$@"
}
_offer() { _main_complete; print -r -- '== end' >> heard; compstate[insert]=''; compstate[list]='' }
zle -C offer complete-word _offer
bindkey '^X' offer
bindkey '^G' kill-whole-line
print -r -- '== ready' >> heard
`;

const outsideZsh = (shell: FoundShell): string => `
${zshPaths(shell)}
zmodload zsh/zpty || exit 9
rm -f heard; mkfifo heard; exec 4<>heard
zpty inside ${shell.path} -f -i
zpty -w inside 'source ./inside.zsh'
until [[ "$said" == '== ready' ]]; do read -r -t 60 -u 4 said || exit 8; done
for line in "$@"; do
  zpty -n -w inside "$line"$'\\x18'
  until [[ "$said" == '== end' ]]; do read -r -t 60 -u 4 said || exit 7; print -r -- "$said"; done
  said=''
  zpty -n -w inside $'\\x07'
done
`;

const SOURCED = 'autoload -Uz compinit; compinit -u -D; source ./functions/_lapse';
const AUTOLOADED = 'fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D';

const offerZsh =
  (shell: FoundShell, load = SOURCED): Offer =>
  (script, lines) => {
    mkdirSync(join(scratch, 'functions'), { recursive: true });
    writeFileSync(join(scratch, 'functions/_lapse'), script);
    writeFileSync(join(scratch, 'inside.zsh'), insideZsh(shell, load));
    writeFileSync(join(scratch, 'outside.zsh'), outsideZsh(shell));
    return answersIn(say(shell, ['-f', 'outside.zsh', ...lines]));
  };

const LINES: readonly [rule: string, line: string, offered: string[]][] = [
  ['commands', 'lapse c', ['checkpoint', 'completion']],
  ['flags', 'lapse plan --', ['--dry-run', '--for', '--help', '--output']],
  ['no flag of another command', 'lapse checkpoint show --f', []],
  ['values of a choice', 'lapse plan -o ', ['json', 'text']],
  ['values after the long flag', 'lapse plan --output j', ['json']],
  ['values after =', 'lapse plan --output=j', ['json']],
  ['commands below commands', 'lapse checkpoint ', ['show']],
  ['flags of those', 'lapse checkpoint show --r', ['--raw']],
  ['a command whose name was a value before', 'lapse plan --for plan --o', ['--output']],
  ['arguments that are a choice', 'lapse completion z', ['zsh']],
  ['files where anything may stand', 'lapse plan --for tr', ['tree.txt']],
  ['files as arguments', 'lapse plan tr', ['tree.txt']],
];

const KINDS = {
  bash: { write: bashScript, offers: { 'as it is called': offerBash } },
  zsh: {
    write: zshScript,
    offers: {
      sourced: offerZsh,
      'from fpath': (shell: FoundShell) => offerZsh(shell, AUTOLOADED),
    },
  },
  fish: { write: fishScript, offers: { sourced: offerFish } },
} as const;

for (const name of Object.keys(KINDS) as Shell[]) {
  const found = await findShell(name);
  if ('missing' in found) test.skip(`${name}: ${found.missing}`, () => {});
  else {
    const { write, offers } = KINDS[name];
    describe.each(Object.entries(offers))(`${name}, %s`, (_way, offer) => {
      let answers: string[][];
      beforeAll(() => {
        const lines = LINES.map(([, line]) => line);
        answers = offer(found.shell)(write('lapse', commands), lines);
      });
      test.each(LINES.map(([rule, line, offered], at) => ({ rule, line, offered, at })))(
        '$rule: $line',
        ({ offered, at }) => expect(answers[at]).toEqual(offered),
      );
      test('the real program: every command of its own help', () => {
        const help = execFileSync(lapse, ['--help'], { encoding: 'utf8' });
        const named = [...help.matchAll(/^ {2}([a-z]+) .*\S/gm)].map((match) => match[1]!);
        const script = execFileSync(lapse, ['completion', name], { encoding: 'utf8' });
        const [all] = offer(found.shell)(script, ['lapse ']);
        expect(named).toContain('plan');
        expect(all).toEqual(expect.arrayContaining(named.filter((word) => word !== 'lapse')));
      });
    });
  }
}
