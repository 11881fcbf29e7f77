// lapse checkpoint: lists, prints, verifies and restores checkpoints.

import { Command, InvalidArgumentError } from 'commander';
import { type ClusterFlags, clusterOptions, outputOption, withCommandContext } from '../commandContext.ts';
import {
  type CatFlags,
  catCheckpoint,
  type ListFlags,
  listCheckpoints,
  type VerifyFlags,
  verifyCommand,
} from './list.ts';
import { type RestoreFlags, restoreCheckpoint } from './restore.ts';

export function checkpointCommand(): Command {
  return new Command('checkpoint')
    .description('manifest checkpoints: list, print, verify, restore')
    .addCommand(listing())
    .addCommand(printing())
    .addCommand(verifying())
    .addCommand(restoring())
    .addHelpText('after', HELP);
}

const HELP = `
Exit codes: 0 as it should be, 1 something is damaged, refused or failed,
2 the command line is wrong.

Examples:
  lapse checkpoint ls
  lapse checkpoint cat mcp-0123456789abcdef --only Deployment/web
  lapse checkpoint verify mcp-0123456789abcdef
  lapse checkpoint restore mcp-0123456789abcdef --namespace copy --create-namespace --yes`;

function subcommand(name: string, description: string, examples: readonly string[]): Command {
  const command = new Command(name).description(description);
  for (const option of clusterOptions()) command.addOption(option);
  return command.addHelpText('after', ['', 'Examples:', ...examples.map((one) => `  ${one}`)].join('\n'));
}

const maxObjects = [
  '--max-objects <n>',
  'refuse a checkpoint with more objects (default: 10000)',
  whole,
] as const;
const only = ['--only <kind[/name]>', 'only these objects; may be repeated', collect] as const;

function whole(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('must be a whole number above 0');
  return Number(text);
}

function collect(word: string, before: readonly string[] = []): string[] {
  return [...before, word];
}

const listing = () =>
  subcommand('ls', 'list checkpoints with their namespaces and sizes', [
    'lapse checkpoint ls --namespace shop',
    'lapse checkpoint ls -o json',
  ])
    .option('-n, --namespace <name>', 'only checkpoints of this namespace')
    .addOption(outputOption(['text', 'json', 'yaml'], 'text'))
    .action((flags: ListFlags & ClusterFlags) =>
      withCommandContext(flags, (commandContext) => listCheckpoints(commandContext, flags)),
    );

const printing = () =>
  subcommand('cat', 'print the captured objects', [
    'lapse checkpoint cat mcp-0123456789abcdef -o json | jq length',
    'lapse checkpoint cat mcp-0123456789abcdef --only ConfigMap --only Secret/db',
  ])
    .argument('<name>', 'name of the checkpoint')
    .addOption(outputOption(['yaml', 'json'], 'yaml'))
    .option(...only)
    .option(...maxObjects)
    .action((name: string, flags: CatFlags & ClusterFlags) =>
      withCommandContext(flags, (commandContext) => catCheckpoint(commandContext, name, flags)),
    );

const verifying = () =>
  subcommand('verify', 'verify that every chunk exists and is unchanged', [
    'lapse checkpoint verify mcp-0123456789abcdef',
    'lapse checkpoint verify mcp-0123456789abcdef -o json',
  ])
    .argument('<name>', 'name of the checkpoint')
    .addOption(outputOption(['text', 'json'], 'text'))
    .action((name: string, flags: VerifyFlags & ClusterFlags) =>
      withCommandContext(flags, (commandContext) => verifyCommand(commandContext, name, flags)),
    );

const restoring = () =>
  subcommand('restore', 'restore the captured objects: shows the plan, acts with --yes', [
    'lapse checkpoint restore mcp-0123456789abcdef',
    'lapse checkpoint restore mcp-0123456789abcdef --yes',
    'lapse checkpoint restore mcp-0123456789abcdef --namespace copy --create-namespace --yes',
    'lapse checkpoint restore mcp-0123456789abcdef --only Secret/db --yes',
  ])
    .argument('<name>', 'name of the checkpoint')
    .option('-n, --namespace <name>', 'restore into this namespace (default: the captured one)')
    .option('--create-namespace', 'create that namespace if it does not exist')
    .option(...only)
    .option('--yes', 'carry out the plan')
    .option('--dry-run', 'only show the plan, also with --yes')
    .option('--force-conflicts', 'take over fields of other field managers')
    .option('--skip-refused', 'restore the other objects if the API server refuses some')
    .option('--include-finished', 'also restore finished Jobs and Pods: they run again')
    .option(...maxObjects)
    .addOption(outputOption(['text', 'json'], 'text'))
    .action((name: string, flags: RestoreFlags & ClusterFlags) =>
      withCommandContext(flags, (commandContext) => restoreCheckpoint(commandContext, name, flags)),
    );
