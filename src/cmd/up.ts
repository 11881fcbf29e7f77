// lapse up: everything in one process, for a first look. A friendly first screen says what runs and how to talk to it.

import { relative, resolve } from 'node:path';
import { styleText } from 'node:util';
import { Command } from 'commander';
import { VERSION } from '#base/version';
import { startEmbedded } from './embedded.ts';
import { embeddedOptions, type ServerFlags, withServerFlags } from './server.ts';
import { untilAskedToStop } from './signals.ts';

export function upCommand(): Command {
  return withServerFlags(new Command('up'))
    .description('a cluster-shaped thing in one process: the embedded API server, ready for kubectl')
    .action(async (flags: ServerFlags) => {
      const stop = untilAskedToStop();
      const embedded = await startEmbedded(embeddedOptions(flags));
      process.stdout.write(firstScreen(flags, embedded.listener.url, embedded.kubeconfig));
      await stop;
      const revision = embedded.server.revision();
      await embedded.close();
      process.stdout.write(
        `\nstopped at revision ${revision}; ${flags.store === 'sqlite' ? 'the data is kept' : 'nothing was kept (memory store)'}\n`,
      );
    });
}

function firstScreen(flags: ServerFlags, url: string, kubeconfig: string): string {
  const bold = (text: string) => (process.stdout.isTTY ? styleText('bold', text) : text);
  const dim = (text: string) => (process.stdout.isTTY ? styleText('dim', text) : text);
  const config = relative('.', kubeconfig);
  const kept =
    flags.store === 'sqlite'
      ? `${resolve(flags.data)} ${dim('(delete it to start over)')}`
      : 'memory only: gone when this ends';
  return [
    '',
    `${bold('lapse')} ${VERSION}`,
    '',
    `  serving     ${url}  ${dim('a Kubernetes API for this machine, in this process')}`,
    `  data        ${kept}`,
    `  kubeconfig  ${config}`,
    '',
    'Try',
    '',
    `  ${bold(`kubectl --kubeconfig ${config} get namespaces`)}`,
    `  ${bold(`kubectl --kubeconfig ${config} create configmap hello --from-literal=who=world`)}`,
    '',
    dim('Ctrl-C stops it.'),
    '',
  ].join('\n');
}
