// lapse server: runs only the embedded API server.

import { join } from 'node:path';
import { Command, Option } from 'commander';
import { parsePort } from '#manager/usage';
import { startEmbedded } from './embedded.ts';
import { requestLog } from './requestLog.ts';
import { untilAskedToStop } from './signals.ts';

export interface ServerFlags {
  readonly port: string;
  readonly host: string;
  readonly data: string;
  readonly store: 'sqlite' | 'memory';
  readonly kubeconfigOut?: string;
  readonly tokenAuthFile?: string;
  readonly authorizationMode: 'AlwaysAllow' | 'RBAC';
  readonly requestLog?: string;
}

/** Flags of all commands with an embedded API server. */
export function withServerFlags(command: Command): Command {
  return command
    .option('--port <n>', 'port to listen on; 0 picks a free one', '0')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--data <dir>', 'directory of objects, certificates and the token', '.lapse')
    .addOption(
      new Option('--store <kind>', 'sqlite survives restarts, memory does not')
        .choices(['sqlite', 'memory'])
        .default('sqlite'),
    )
    .option(
      '--kubeconfig-out <file>',
      'file to write a kubeconfig to (default: kubeconfig in the data directory)',
    )
    .option('--token-auth-file <csv>', 'additional users: lines of token,user,uid,"group1,group2"')
    .addOption(
      new Option('--authorization-mode <mode>', 'RBAC: enforce roles and bindings')
        .choices(['AlwaysAllow', 'RBAC'])
        .default('AlwaysAllow'),
    )
    .option('--request-log <file>', 'append one JSON line per request to this file');
}

export function embeddedOptions(flags: ServerFlags) {
  return {
    data: flags.data,
    store: flags.store,
    host: flags.host,
    port: parsePort(flags.port),
    kubeconfigOut: flags.kubeconfigOut ?? join(flags.data, 'kubeconfig'),
    authorization: flags.authorizationMode,
    ...(flags.tokenAuthFile ? { tokenAuthFile: flags.tokenAuthFile } : {}),
    ...(flags.requestLog ? { around: requestLog(flags.requestLog) } : {}),
    onUnexpected: (cause: unknown) =>
      process.stderr.write(`lapse: unexpected: ${(cause as Error).stack ?? String(cause)}\n`),
  };
}

export function serverCommand(): Command {
  return withServerFlags(new Command('server'))
    .description('run only the embedded Kubernetes API server')
    .addHelpText(
      'after',
      '\nExample:\n  lapse server --port 6443 --data ./data --kubeconfig-out ./kubeconfig\n  kubectl --kubeconfig ./kubeconfig get namespaces',
    )
    .action(async (flags: ServerFlags) => {
      const stop = untilAskedToStop();
      const embedded = await startEmbedded(embeddedOptions(flags));
      process.stdout.write(`serving ${embedded.listener.url}\n`);
      await stop;
      await embedded.close();
    });
}
