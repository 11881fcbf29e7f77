// The command line: reads argv and the environment, hands them to one command, reports what went wrong in one line.

import { Command } from 'commander';
import { VERSION } from '#base/version';
import { serverCommand } from './server.ts';
import { upCommand } from './up.ts';
import { UsageError } from './usage.ts';

const program = new Command('lapse')
  .description('Makes everything temporary in a Kubernetes cluster end on time, and shows you first.')
  .version(VERSION)
  .showHelpAfterError('(add --help for the options)')
  .addCommand(upCommand())
  .addCommand(serverCommand());

try {
  await program.parseAsync(process.argv);
} catch (cause) {
  const known = cause instanceof UsageError;
  process.stderr.write(`lapse: ${known ? cause.message : ((cause as Error).stack ?? String(cause))}\n`);
  process.exitCode = known ? 2 : 1;
}
