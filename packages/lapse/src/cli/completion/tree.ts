// The commands, as completion needs to know them.

import type { Argument, Command, Option } from 'commander';

export interface FlagWords {
  /** `--output`. */
  readonly long: string;
  /** `-o`; may be empty. */
  readonly short: string;
  readonly description: string;
  /** A value follows, or is joined with `=`. */
  readonly takesValue: boolean;
  /** Empty: anything. */
  readonly choices: readonly string[];
}

export interface CommandWords {
  /** `checkpoint show`. */
  readonly path: string;
  readonly description: string;
  readonly flags: readonly FlagWords[];
  /** Names of the commands below it. */
  readonly children: readonly string[];
  /** What its first argument may be; empty: a file. */
  readonly choices: readonly string[];
}

/** Every command and the commands below it; the first entry is the program itself. */
export function describeCommands(commands: readonly Command[]): CommandWords[] {
  const root: CommandWords = {
    path: '',
    description: '',
    flags: [HELP, { ...HELP, long: '--version', short: '-V', description: 'print the version' }],
    children: [...commands.map((command) => command.name()), 'help'],
    choices: [],
  };
  return [root, ...commands.flatMap((command) => describe(command, ''))];
}

const HELP: FlagWords = {
  long: '--help',
  short: '-h',
  description: 'show help',
  takesValue: false,
  choices: [],
};

function describe(command: Command, parent: string): CommandWords[] {
  const path = parent === '' ? command.name() : `${parent} ${command.name()}`;
  const { commands, options, registeredArguments } = command;
  return [
    {
      path,
      description: oneLine(command.description()),
      flags: [...options.filter(({ hidden }) => !hidden).map(flagOf), HELP],
      children: commands.map((child) => child.name()),
      choices: (registeredArguments as readonly Argument[])[0]?.argChoices ?? [],
    },
    ...commands.flatMap((child) => describe(child, path)),
  ];
}

function flagOf(option: Option): FlagWords {
  const { long, short, description, argChoices, required } = option;
  return {
    long: long ?? short ?? '',
    short: long === undefined ? '' : (short ?? ''),
    description: oneLine(description),
    takesValue: required,
    choices: argChoices ?? [],
  };
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
