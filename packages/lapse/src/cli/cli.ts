// The command line: reads argv and the environment, runs one command, and reports errors in one line.

import { VERSION } from '@lapse/base/version';
import { Command, CommanderError } from 'commander';
import { reasonOf, UsageError } from '#manager/usage';
import { computeFailure } from './failures.ts';
import { withHelpStyle } from './help.ts';
import { terminalText } from './terminalText.ts';

/**
 * In the order of the help. Only the requested command is loaded, so that the controllers do not slow down the
 * others.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./up/upCommand.ts')).upCommand(),
  run: async () => (await import('./runCommand.ts')).runCommand(),
  plan: async () => (await import('./plan/planCommand.ts')).planCommand(),
  explain: async () => (await import('./explain/explainCommand.ts')).explainCommand(),
  approve: async () => (await import('./approve/approveCommand.ts')).approveCommand(),
  extend: async () => (await import('./extend/extendCommand.ts')).extendCommand(),
  keep: async () => (await import('./extend/extendCommand.ts')).keepCommand(),
  release: async () => (await import('./extend/extendCommand.ts')).releaseCommand(),
  checkpoint: async () => (await import('./checkpoint/checkpointCommand.ts')).checkpointCommand(),
  trash: async () => (await import('./trash/trashCommand.ts')).trashCommand(),
  undo: async () => (await import('./undo/undoCommand.ts')).undoCommand(),
  doctor: async () => (await import('./doctor/doctorCommand.ts')).doctorCommand(),
  simulate: async () => (await import('./simulate/simulateCommand.ts')).simulateCommand(),
  crds: async () => (await import('./crdsCommand.ts')).crdsCommand(),
  manifests: async () => (await import('./manifests/manifestsCommand.ts')).manifestsCommand(),
  server: async () => (await import('./serverCommand.ts')).serverCommand(),
  completion: async () => (await import('./completion/completionCommand.ts')).completionCommand(everyCommand),
};

const everyCommand = (): Promise<Command[]> => Promise.all(Object.values(COMMANDS).map((load) => load()));

async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('lapse')
    .description(
      'Deletes temporary objects of a Kubernetes cluster on time, and shows beforehand what it deletes.',
    )
    .version(VERSION);
  const [, , first = '', second] = argv;
  if (first === 'help' && second !== undefined && !Object.hasOwn(COMMANDS, second))
    throw new UsageError(`unknown command "${second}"; see lapse --help`);
  const loads = Object.hasOwn(COMMANDS, first) ? [COMMANDS[first]!] : Object.values(COMMANDS);
  for (const load of loads) program.addCommand(await load());
  await withHelpStyle(program).parseAsync(argv);
}

// The reader may close the pipe early (`lapse plan | head`), or a disk may be full.
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code === 'EPIPE') process.exit(process.exitCode ?? 0);
  process.stderr.write(`lapse: cannot write the output: ${reasonOf(cause)}\n`);
  process.exit(1);
});
// Errors of standard error cannot be reported.
process.stderr.on('error', () => {});

try {
  await main(process.argv);
} catch (cause) {
  process.exit(codeOf(cause));
}

/** Reports the error. Pending work of the command does not keep the process alive. */
function codeOf(cause: unknown): number {
  // Help and version end here too. commander has already printed usage errors.
  if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
  const { text, code } = computeFailure(cause);
  process.stderr.write(`lapse: ${terminalText(text)}\n`);
  return code;
}
