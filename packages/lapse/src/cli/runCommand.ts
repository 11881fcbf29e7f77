// lapse run: runs the controllers against a cluster.

import { hostname } from 'node:os';
import { realClock } from '@lapse/base/clock';
import type { Log } from '@lapse/base/log';
import { nameSuffix, systemRandom } from '@lapse/base/random';
import { VERSION } from '@lapse/base/version';
import { Command } from 'commander';
import { FAMILIES } from '#controllers/registry';
import { type Assembly, assemble } from '#manager/assemble';
import { type Cluster, reachCluster } from '#manager/cluster';
import { type General, readGeneral } from '#manager/configuration/general';
import { loadConfiguration } from '#manager/configuration/load';
import { readConfig } from '#manager/configuration/readConfig';
import { type Hosts, openHosts } from '#manager/hosts';
import { collectModules, joinFamilies, loadModules } from '#manager/loadModules';
import { recordLeadership } from '#manager/recordLeadership';
import { selectFamilies } from '#manager/selection';
import { UsageError } from '#manager/usage';
import { readApiFor } from './checkpoint/readApi.ts';
import { withSettings } from './flags.ts';
import { namedRows } from './help.ts';
import { openLog } from './logs.ts';
import { leave, untilAskedToStop } from './signals.ts';
import { logStartup } from './startup.ts';

interface RunFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly config?: string;
  readonly module?: readonly string[];
}

export function runCommand(): Command {
  const command = new Command('run')
    .description('run the controllers against a cluster: that of --kubeconfig, or that of the Pod')
    .option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)')
    .option('--context <name>', 'the context of the kubeconfig')
    .option('--config <file>', 'a LapseConfiguration in YAML; flags take precedence')
    .option('--module <file>', 'run the controllers that this file exports; may be repeated', collectModules);
  const settings = withSettings(command, FAMILIES);
  return command.addHelpText('after', helpText()).action(async (flags: RunFlags, parsed: Command) => {
    const stop = untilAskedToStop();
    const own = await loadModules(flags.module ?? []);
    const known = joinFamilies(FAMILIES, own);
    const document = loadConfiguration(known, {
      flags: settings.given(parsed),
      environment: process.env,
      ...(flags.config === undefined ? {} : { file: readConfig(flags.config) }),
    });
    const general = readGeneral(document);
    // With --module, only the controllers of the modules run by default.
    const words = general.controllers ?? (own.length > 0 ? own.map(({ name }) => name) : ['*']);
    const selected = selectFamilies(known, words);
    const log = openLog(general);
    if (selected.length === 0) throw new UsageError(`--controllers=${words.join(',')} selects no controller`);
    const cluster = await reachCluster(flags, process.env, realClock);
    const identity = `${hostname()}_${nameSuffix(systemRandom)}`;
    const context = { clock: realClock, random: systemRandom, log, identity };
    const assembly = assemble({ ...context, connection: cluster, general, document, known, selected });
    await runUntil(stop, { assembly, cluster, general, log });
    leave();
  });
}

interface Running {
  readonly assembly: Assembly;
  readonly cluster: Cluster;
  readonly general: General;
  readonly log: Log;
}

async function runUntil(stop: Promise<NodeJS.Signals>, running: Running): Promise<void> {
  const { assembly, cluster, general, log } = running;
  const { manager, registry, families, lease, services } = assembly;
  const { server, inCluster, description } = cluster;
  log.info({ version: VERSION, cluster: description, server, dryRun: general.dryRun }, 'starting');
  const admission = families.flatMap((family) => family.admission);
  recordLeadership(registry, lease, general);
  let hosts: Hosts | undefined;
  try {
    const { client } = services;
    const { namespace } = cluster;
    const context = { general, inCluster, manager, registry, admission, clock: realClock, log };
    const names = families.map(({ family }) => family.name);
    const readApi = readApiFor(names, { client, maxObjects: general.api.maxObjects });
    hosts = await openHosts({ ...context, client, namespace, ...readApi });
    manager.start();
    void logStartup({ client, log, families, lease, ...only(general.namespace) });
    log.info({ signal: await stop }, 'stopping');
    log.info({ finished: await manager.stop() }, 'stopped');
  } finally {
    await hosts?.close();
    await cluster.close();
  }
}

const only = (namespace: string | undefined) => (namespace === undefined ? {} : { namespace });

function helpText(): string {
  const families = FAMILIES.map(({ name, description, defaultOn }) => ({
    name,
    description: defaultOn ? description : `${description} (off by default)`,
  }));
  return [
    '',
    'Controllers:',
    ...namedRows(families, process.stdout.columns ?? 80),
    '',
    'Every flag can be set in the file of --config, or as LAPSE_… in the environment',
    '(LAPSE_DRY_RUN=true).',
    '',
    'Exit codes: 0 stopped by a signal, 1 a required resource is unavailable or was lost,',
    '2 an error in the command or the configuration.',
    '',
    'Examples:',
    '  lapse run --dry-run',
    '  lapse run --controllers=*,-cleaner --leader-elect=false',
    '  lapse run --module ./my-controller.ts',
  ].join('\n');
}
