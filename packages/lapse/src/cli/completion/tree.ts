// The model of the commands for completion.

import type { Argument, Command, Option } from 'commander';

export interface FlagWords {
  /** For example `--output`. */
  readonly long: string;
  /** For example `-o`. May be empty. */
  readonly short: string;
  readonly description: string;
  /** A value follows as the next word or after `=`. */
  readonly takesValue: boolean;
  /** Empty: any value. */
  readonly choices: readonly string[];
}

export interface CommandWords {
  /** For example `checkpoint show`. */
  readonly path: string;
  readonly description: string;
  readonly flags: readonly FlagWords[];
  /** Names of the subcommands. */
  readonly children: readonly string[];
  /** Choices of the first argument. Empty: a file. */
  readonly choices: readonly string[];
}

/** Every command and its subcommands. The first entry is the program itself. */
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
