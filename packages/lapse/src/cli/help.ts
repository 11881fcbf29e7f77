// Shared behaviour of all commands: help that fits a narrow terminal, and usage errors with uniform messages and exit
// code.

import type { Command, Help } from 'commander';

/** Columns. The description of a longer flag starts on the next line. */
const WIDEST_TERM = 30;

/** Applies to the command and its subcommands. */
export function withHelpStyle(command: Command): Command {
  command
    .configureHelp({ padWidth, formatItem })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'lapse: ')) })
    .showHelpAfterError(`(see ${pathOf(command)} --help)`)
    .exitOverride();
  for (const under of command.commands) withHelpStyle(under);
  return command;
}

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

function padWidth(command: Command, helper: Help): number {
  const widest = Math.max(
    helper.longestOptionTermLength(command, helper),
    helper.longestGlobalOptionTermLength(command, helper),
    helper.longestSubcommandTermLength(command, helper),
    helper.longestArgumentTermLength(command, helper),
  );
  return Math.min(widest, WIDEST_TERM);
}

function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  if (description === '') return `  ${term}`;
  const indent = ' '.repeat(termWidth + 4);
  const text = helper.boxWrap(description, Math.max((helper.helpWidth ?? 80) - indent.length, 40));
  const lines = text.split('\n').join(`\n${indent}`);
  return helper.displayWidth(term) > termWidth
    ? `  ${term}\n${indent}${lines}`
    : `  ${term.padEnd(termWidth)}  ${lines}`;
}

export interface Named {
  readonly name: string;
  readonly description: string;
}

/** Names with descriptions, for the end of a help text. */
export function namedRows(rows: readonly Named[], width: number): string[] {
  const indent = 2 + Math.max(...rows.map(({ name }) => name.length)) + 2;
  return rows.flatMap(({ name, description }) => {
    const [first = '', ...more] = wrapped(description, Math.max(width - indent, 40));
    return [`  ${name.padEnd(indent - 2)}${first}`, ...more.map((line) => `${' '.repeat(indent)}${line}`)];
  });
}

/** Lines of at most this width. A longer word has its own line. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
