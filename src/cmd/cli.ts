// The command line: reads argv and the environment, hands them to one command, reports what went wrong in one line.

import { Command } from 'commander';
import { VERSION } from '#base/version';
import { UsageError } from './usage.ts';

/** In the order of the help. Only the one that is asked for is loaded: the controllers need not slow down the server. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./up.ts')).upCommand(),
  run: async () => (await import('./run.ts')).runCommand(),
  plan: async () => (await import('./plan.ts')).planCommand(),
  explain: async () => (await import('./explain.ts')).explainCommand(),
  checkpoint: async () => (await import('./checkpoint.ts')).checkpointCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  simulate: async () => (await import('./simulate.ts')).simulateCommand(),
  crds: async () => (await import('./crds.ts')).crdsCommand(),
  manifests: async () => (await import('./manifests.ts')).manifestsCommand(),
  server: async () => (await import('./server.ts')).serverCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(everyCommand),
};

const everyCommand = (): Promise<Command[]> => Promise.all(Object.values(COMMANDS).map((load) => load()));

async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('lapse')
    .description('Makes everything temporary in a Kubernetes cluster end on time, and shows you first.')
    .version(VERSION)
    .showHelpAfterError('(add --help for the options)');
  const [, , first = ''] = argv;
  const loads = Object.hasOwn(COMMANDS, first) ? [COMMANDS[first]!] : Object.values(COMMANDS);
  for (const load of loads) program.addCommand(await load());
  await program.parseAsync(argv);
}

// Whoever reads may have seen enough (`lapse plan | head`).
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code === 'EPIPE') process.exit(process.exitCode ?? 0);
  throw cause;
});

try {
  await main(process.argv);
} catch (cause) {
  const known = cause instanceof UsageError;
  process.stderr.write(`lapse: ${known ? cause.message : ((cause as Error).stack ?? String(cause))}\n`);
  process.exitCode = known ? 2 : 1;
}
