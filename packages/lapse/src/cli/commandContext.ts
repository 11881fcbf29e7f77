// Shared parts of the commands that read and restore saved objects (checkpoint, trash, undo): a client, output with backpressure, and errors that say what to do next.

import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { type Clock, realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { type Client, createClient } from '@lapse/kube/client/client';
import { Option } from 'commander';
import { CheckpointError } from '#checkpoint/read';
import { RestoreError } from '#checkpoint/restore/plan';
import { reachCluster } from '#manager/cluster';
import { UsageError } from '#manager/usage';
import { wantsColour } from './colour.ts';
import { describeRefusal } from './failures.ts';
import { terminalText } from './terminalText.ts';

export interface CommandContext {
  readonly client: Client;
  /** The namespace of the kubeconfig. */
  readonly namespace: string;
  readonly clock: Clock;
  /** Writes the result to standard output. */
  out(text: string): Promise<void>;
  /** Writes messages to standard error. */
  say(text: string): void;
  /** Shows the progress of a long operation. The next text replaces it, an empty one removes it. */
  progress?(text: string): void;
  /** Asks a yes-or-no question. Undefined: no terminal. */
  ask?(question: string): Promise<boolean>;
  readonly colour: boolean;
}

/**
 * 0: success. 1: something is damaged, rejected or failed. 2 (UsageError): the command line is wrong. 3 (undo): only some
 * objects were restored.
 */
export type ExitCode = 0 | 1 | 3;

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

export const clusterOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)'),
  new Option('--context <name>', 'the context of the kubeconfig'),
];

export const outputOption = (choices: readonly string[], usual: string): Option =>
  new Option('-o, --output <format>', choices.join(', ')).choices([...choices]).default(usual);

/** Connects, runs the work, and exits with its code. */
export async function withCommandContext(
  flags: ClusterFlags,
  work: (commandContext: CommandContext) => Promise<ExitCode>,
): Promise<void> {
  const cluster = await reachCluster(flags, process.env, realClock);
  const { transport, credentials } = cluster;
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const client = createClient({
    transport,
    credentials,
    clock: realClock,
    random: systemRandom,
    onWarning: (warning) => say(terminalText(`warning: ${warning}`)),
  });
  try {
    const commandContext: CommandContext = {
      client,
      namespace: cluster.namespace,
      clock: realClock,
      out: print,
      say,
      colour: wantsColour(process.stdout),
      ...(process.stderr.isTTY === true ? { progress: overwrite } : {}),
      ...(process.stdin.isTTY === true && process.stderr.isTTY === true ? { ask } : {}),
    };
    process.exitCode = await reportingErrors(commandContext, work);
  } finally {
    await cluster.close();
  }
}

/** Anything but y or yes is no. */
async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${terminalText(question)} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

const overwrite = (text: string): void => void process.stderr.write(`\r\x1b[K${text}`);

const print = (text: string): Promise<void> =>
  new Promise((resolve) => {
    if (process.stdout.write(text)) resolve();
    else process.stdout.once('drain', resolve);
  });

/** Expected failures are reported in one line, without a stack. Control characters in the output are escaped. */
export async function reportingErrors(
  commandContext: CommandContext,
  work: (commandContext: CommandContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { out, say } = commandContext;
  const safe: CommandContext = {
    ...commandContext,
    out: (text) => out(terminalText(text)),
    say: (text) => say(terminalText(text)),
  };
  try {
    return await work(safe);
  } catch (error) {
    const text = explain(error);
    if (text === undefined) throw error;
    safe.say(`lapse: ${text}`);
    return 1;
  }
}

function explain(error: unknown): string | undefined {
  if (error instanceof UsageError) return undefined;
  if (error instanceof CheckpointError) return `${error.message}${HINTS[error.problem]}`;
  if (error instanceof RestoreError) return error.message;
  return describeRefusal(error);
}

const HINTS: Readonly<Record<CheckpointError['problem'], string>> = {
  notReady: '; it can be read when its capture has succeeded',
  tooManyObjects: '; --max-objects raises it',
  badList: '; the checkpoint cannot be trusted',
  missingChunk: '; "lapse checkpoint verify" checks every chunk',
  damagedChunk: '; "lapse checkpoint verify" checks every chunk',
};

type Style = Parameters<typeof styleText>[0];

/** Coloured on a terminal. */
export const styled = ({ colour }: Pick<CommandContext, 'colour'>, style: Style, text: string): string =>
  colour ? styleText(style, text, { validateStream: false }) : text;

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('   ')
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join('');
}

const UNITS = ['B', 'kB', 'MB', 'GB'];

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `1 object`, `2 objects`. */
export const counted = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
