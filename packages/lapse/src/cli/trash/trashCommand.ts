// lapse trash: lists, prints and verifies the objects that were saved before their deletion.

import { Command } from 'commander';
import { type ClusterFlags, clusterOptions, outputOption, withCommandContext } from '../commandContext.ts';
import { TRASH_NAMESPACE } from '../trashAccess.ts';
import {
  type ListFlags,
  listTrash,
  type ShowFlags,
  showRecord,
  type VerifyFlags,
  verifyTrash,
} from './list.ts';

export function trashCommand(): Command {
  return new Command('trash')
    .description('objects that were saved before their deletion: list, show, verify')
    .addCommand(listing())
    .addCommand(showing())
    .addCommand(verifying())
    .addHelpText('after', HELP);
}

const HELP = `
Exit codes: 0 as it should be, 1 something is damaged or not found,
2 the command line is wrong.

Examples:
  lapse trash list --since 1h
  lapse trash show 3f2a9c81d07e
  lapse trash verify`;

function subcommand(name: string, description: string, examples: readonly string[]): Command {
  const command = new Command(name).description(description).option(...TRASH_NAMESPACE);
  for (const option of clusterOptions()) command.addOption(option);
  return command.addHelpText('after', ['', 'Examples:', ...examples.map((one) => `  ${one}`)].join('\n'));
}

const listing = () =>
  subcommand('list', 'list saved objects, oldest first', [
    'lapse trash list --since 1h',
    'lapse trash list -n shop --kind deployment',
    'lapse trash list --rule ci/pipeline-runs -o wide',
  ])
    .option('--since <duration>', 'only objects that were deleted in this time: 1h, 2d')
    .option('-n, --namespace <name>', 'only objects of this namespace')
    .option('--kind <kind>', 'only objects of this kind')
    .option('--rule <rule>', 'only objects that this policy or Cleaner deleted: [namespace/]name')
    .addOption(outputOption(['text', 'wide', 'json', 'yaml'], 'text'))
    .action((flags: ListFlags & ClusterFlags) =>
      withCommandContext(flags, (commandContext) => listTrash(commandContext, flags)),
    );

const showing = () =>
  subcommand('show', 'print one saved object, and whether it exists', [
    'lapse trash show 3f2a9c81d07e',
    'lapse trash show 3f2a9c81d07e -o json',
  ])
    .argument('<id>', 'id of the deletion, as listed by lapse trash list')
    .addOption(outputOption(['yaml', 'json'], 'yaml'))
    .action((id: string, flags: ShowFlags & ClusterFlags) =>
      withCommandContext(flags, (commandContext) => showRecord(commandContext, id, flags)),
    );

const verifying = () =>
  subcommand('verify', 'verify that every saved object is complete and unchanged', ['lapse trash verify'])
    .addOption(outputOption(['text', 'json'], 'text'))
    .action((flags: VerifyFlags & ClusterFlags) =>
      withCommandContext(flags, (commandContext) => verifyTrash(commandContext, flags)),
    );
