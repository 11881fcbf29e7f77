// lapse doctor: checks whether `lapse run` would work in a cluster, and reports problems. It changes nothing.

import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import type { JsonObject } from '@lapse/kube/api/json';
import { type Client, createClient } from '@lapse/kube/client/client';
import { Command, Option } from 'commander';
import { FAMILIES } from '#controllers/registry';
import { assemble } from '#manager/assemble';
import { reachCluster } from '#manager/cluster';
import { readGeneral } from '#manager/configuration/general';
import { loadForCluster } from '#manager/configuration/installation';
import { loadConfiguration, type Sources } from '#manager/configuration/load';
import { readConfig } from '#manager/configuration/readConfig';
import { selectFamilies } from '#manager/selection';
import { UsageError } from '#manager/usage';
import { styles, wantsColour } from '../colour.ts';
import { documentText, FORMATS, type Format } from '../documents.ts';
import { withSettings } from '../flags.ts';
import { sayToUser } from '../readOnlyCluster.ts';
import { terminalText } from '../terminalText.ts';
import { examine } from './examine.ts';
import { readOnlyWithReviews } from './readOnlyWithReviews.ts';
import { exitCodeOf, type Report, reportDocument, reportText } from './report.ts';

interface DoctorFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly config?: string;
  readonly output: Format;
}

const EXAMPLES = `
Examples:
  lapse doctor                                 the cluster of kubectl
  lapse doctor --controllers=*,volume-capture  with one that is off by default
  lapse doctor --namespace team-a -o json      rights in one namespace, as JSON

Checked: connection and version, clocks, rights of each controller,
definitions of our kinds and whose they are, who else acts on the same fields,
the snapshot stack, the webhook, all Cleaners and policies: rights and authors.
Only GET, and reviews of one's own rights.
Exit codes: 0 nothing in the way (warnings and notes may be), 1 a problem was
found, 2 a mistake in the command.`;

export function doctorCommand(): Command {
  const command = new Command('doctor')
    .description(
      'check a cluster before you run Lapse: permissions, clocks, CRDs, other controllers; read-only',
    )
    .option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)')
    .option('--context <name>', 'the context of the kubeconfig')
    .option('--config <file>', 'a LapseConfiguration in YAML; flags take precedence')
    .addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS).default('text'));
  const settings = withSettings(command, FAMILIES, {
    without: (flag) => /^(metrics|log|verbosity)/.test(flag),
  });
  return command.addHelpText('after', EXAMPLES).action(async (flags: DoctorFlags, parsed: Command) => {
    const report = await examineCluster(flags, settings.given(parsed));
    const { green, yellow, red, dim } = styles(wantsColour(process.stdout));
    const paint = { ok: green, note: dim, warning: yellow, problem: red };
    const { output } = flags;
    process.stdout.write(
      output === 'text'
        ? terminalText(reportText(report, (level, text) => paint[level](text)))
        : documentText(reportDocument(report), output),
    );
    process.exitCode = exitCodeOf(report);
  });
}

async function examineCluster(flags: DoctorFlags, given: Readonly<Record<string, string>>): Promise<Report> {
  const sources = {
    flags: given,
    environment: process.env,
    ...(flags.config === undefined ? {} : { file: readConfig(flags.config) }),
  };
  // Errors in flags are reported before the cluster is contacted.
  loadConfiguration(FAMILIES, sources);
  const cluster = await reachCluster(flags, process.env, realClock);
  try {
    const connection = {
      ...cluster,
      transport: readOnlyWithReviews(cluster.transport),
      leaseTransport: readOnlyWithReviews(cluster.leaseTransport),
    };
    const context = { clock: realClock, random: systemRandom, log: silentLog, identity: 'doctor' };
    const document = await loadInstalled(sources, createClient({ ...connection, ...context }));
    const general = readGeneral(document);
    const selected = selectFamilies(FAMILIES, general.controllers ?? ['*']);
    const assembly = assemble({ ...context, connection, general, document, known: FAMILIES, selected });
    const { client } = assembly.services;
    const findings = await examine({ client, clock: realClock, general, selected, assembly });
    return { cluster: cluster.description, server: cluster.server, findings };
  } finally {
    await cluster.close();
  }
}

/** A failed connection is a finding. The command continues. */
function loadInstalled(sources: Sources, client: Client): Promise<JsonObject> {
  return loadForCluster(FAMILIES, sources, client, sayToUser).catch((error: unknown) => {
    if (error instanceof UsageError) throw error;
    return loadConfiguration(FAMILIES, sources);
  });
}
