// lapse undo: creates objects again that policies or Cleaners deleted.

import { Command } from 'commander';
import { type ClusterFlags, clusterOptions, outputOption, withCommandContext } from '../commandContext.ts';
import { TRASH_NAMESPACE } from '../trashAccess.ts';
import { type UndoFlags, undo } from './undo.ts';

export function undoCommand(): Command {
  const command = new Command('undo')
    .description('create objects again that a policy or Cleaner deleted')
    .argument('[object]', 'KIND/NAME, such as deployment/web: its last saved state')
    .option('--id <id>', 'the deletion with this id, as listed by lapse trash list')
    .option('--since <duration>', 'everything that was deleted in this time: 1h, 2d')
    .option('--rule <rule>', 'everything that this policy or Cleaner deleted: [namespace/]name')
    .option('-n, --namespace <name>', 'only objects of this namespace')
    .option('--ttl <duration>', 'annotation lapse.dev/ttl of restored objects (default: never)')
    .option('--suspended', 'restore finished objects suspended, where their kind has a field for it')
    .option('--force', 'replace objects that exist')
    .option('--diff', 'show how existing objects differ from the saved ones')
    .option('--dry-run', 'only show the plan, also with --yes')
    .option('--yes', 'do not ask')
    .addOption(outputOption(['text', 'json'], 'text'))
    .option(...TRASH_NAMESPACE);
  for (const option of clusterOptions()) command.addOption(option);
  return command
    .addHelpText('after', HELP)
    .action((object: string | undefined, flags: UndoFlags & ClusterFlags) =>
      withCommandContext(flags, (commandContext) => undo(commandContext, object, flags)),
    );
}

const HELP = `
Objects are created with your own rights. Objects that exist are never
overwritten without --force.

Exit codes: 0 everything is restored, 1 nothing is restored, 2 the command line
is wrong, 3 some objects are restored and others are not.

Examples:
  lapse undo deployment/web -n shop
  lapse undo --since 1h --rule ci/previews --dry-run
  lapse undo --id 3f2a9c81d07e --ttl 48h --yes`;
