// Completion for fish, with descriptions.

import type { CommandWords, FlagWords } from './tree.ts';

export function fishScript(program: string, commands: readonly CommandWords[]): string {
  const described = new Map(commands.map((command) => [command.path, command.description]));
  const paths = commands.map(({ path }) => quote(path)).join(' ');
  const lines = [
    `# fish completion for ${program}; written by: ${program} completion fish`,
    `set -g __${program}_commands ${paths}`,
    '# Whether the command line is at this command.',
    `function __${program}_at`,
    "    set -l at ''",
    '    for word in (commandline -opc)[2..-1]',
    '        set -l next (string trim -- "$at $word")',
    `        if contains -- "$next" $__${program}_commands`,
    '            set at "$next"',
    '        end',
    '    end',
    '    test "$at" = "$argv"',
    'end',
    '',
  ];
  for (const command of commands) lines.push(...commandLines(program, command, described));
  return `${lines.join('\n')}\n`;
}

function commandLines(
  program: string,
  { path, children, choices, flags }: CommandWords,
  described: ReadonlyMap<string, string>,
): string[] {
  const at = `complete -c ${program} -n ${quote(`__${program}_at ${path}`.trim())}`;
  const child = (name: string) => {
    const description = described.get(path === '' ? name : `${path} ${name}`) ?? '';
    return `${at} -f -a ${quote(name)}${description === '' ? '' : ` -d ${quote(description)}`}`;
  };
  return [...children.map(child), ...choices.map(child), ...flags.map((flag) => flagLine(at, flag))];
}

function flagLine(at: string, { long, short, description, takesValue, choices }: FlagWords): string {
  const words = [
    at,
    `-l ${long.replace(/^--/, '')}`,
    ...(short === '' ? [] : [`-s ${short.slice(1)}`]),
    ...(takesValue ? ['-r'] : []),
    ...(choices.length === 0 ? [] : [`-f -a ${quote(choices.join(' '))}`]),
    ...(description === '' ? [] : [`-d ${quote(description)}`]),
  ];
  return words.join(' ');
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
