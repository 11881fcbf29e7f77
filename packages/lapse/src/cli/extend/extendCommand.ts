// lapse extend, lapse keep and lapse release: change when one object is deleted, with the rights of the user.

import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { createClient } from '@lapse/kube/client/client';
import { Command, Option } from 'commander';
import { FAMILIES } from '#controllers/registry';
import { parseInstant } from '#expiry/statusFinish';
import { Refused } from '#forecast/explain/findObject';
import { namingAmong, parseTarget, resolveKind } from '#forecast/resolveKind';
import { type ClusterFlags, reachCluster } from '#manager/cluster';
import { loadForCluster } from '#manager/configuration/installation';
import { parseNamespace, UsageError } from '#manager/usage';
import { explainOptionsOf } from '../explainOptions.ts';
import { forecastSources } from '../forecastSources.ts';
import { namedRows } from '../help.ts';
import { impatient, sayToUser } from '../readOnlyCluster.ts';
import { terminalText } from '../terminalText.ts';
import { parseSpan } from '../times.ts';
import { type Changed, changeObject } from './changeObject.ts';
import type { RequestedChange } from './proposeChanges.ts';
import { madeJson, madeText } from './text.ts';

interface ChangeFlags extends ClusterFlags {
  readonly config?: string;
  readonly namespace?: string;
  readonly dryRun?: boolean;
  readonly output: 'text' | 'json';
}

interface ExtendFlags extends ChangeFlags {
  readonly for?: string;
  readonly until?: string;
}

export const extendCommand = (): Command =>
  changing('extend', 'delete an object later: changes its TTL or an annotation', [
    'lapse extend job/report-42 --for 2h',
    'lapse extend pipelinerun/build-7 -n ci --until 2026-12-01T08:00:00Z',
    'lapse extend cleaner/preview-182 -n previews --for 3d',
  ])
    .option('--for <duration>', 'from its deadline, or from now if it is overdue: 2h, 3d, 1d12h')
    .option('--until <time>', 'RFC 3339 time, such as 2026-12-01T08:00:00Z')
    .action((words: readonly string[], flags: ExtendFlags) => change(words, flags, parseExtension(flags)));

export const keepCommand = (): Command =>
  changing('keep', 'keep an object: sets the annotation lapse.dev/ttl to never', [
    'lapse keep job/report-42',
    'lapse keep cleaner/preview-182 -n previews',
  ]).action((words: readonly string[], flags: ChangeFlags) => change(words, flags, { kind: 'keep' }));

export const releaseCommand = (): Command =>
  changing('release', 'let an object expire again: undoes lapse keep, and the extension of a Cleaner', [
    'lapse release job/report-42',
    'lapse release cleaner/preview-182 -n previews --dry-run',
  ]).action((words: readonly string[], flags: ChangeFlags) => change(words, flags, { kind: 'release' }));

function changing(name: string, description: string, examples: readonly string[]): Command {
  return new Command(name)
    .description(`${description}; needs the right to patch it`)
    .argument('<object...>', 'KIND/NAME, such as job/report-42')
    .option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)')
    .option('--context <name>', 'the context of the kubeconfig')
    .option('--config <file>', 'a LapseConfiguration in YAML (default: that of the installation)')
    .option(
      '-n, --namespace <name>',
      'namespace of the object (default: that of the context)',
      parseNamespace,
    )
    .option('--dry-run', 'show the change, and write nothing')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText('after', ['', EXIT_CODES, '', 'Examples:', ...examples.map((one) => `  ${one}`)].join('\n'));
}

/** No rule honors the change, so nothing was written. */
const NOT_HONORED = 4;

const EXIT_CODES = [
  'Exit codes:',
  ...namedRows(
    [
      { name: '0', description: 'the object is as requested' },
      { name: '1', description: 'the cluster does not respond, or refuses the change' },
      { name: '2', description: 'an error in the command: an invalid flag, kind or name' },
      { name: '3', description: 'the object cannot be read' },
      { name: '4', description: 'nothing was changed: no rule would honor it; the message says why' },
    ],
    80,
  ),
].join('\n');

/** Exactly one of --for and --until. */
export function parseExtension({ for: span, until }: Pick<ExtendFlags, 'for' | 'until'>): RequestedChange {
  if ((span === undefined) === (until === undefined))
    throw new UsageError('set exactly one of --for and --until, such as --for 2h');
  if (span !== undefined) return { kind: 'for', length: parseSpan(span) };
  const at = parseInstant(until!);
  if (at === undefined)
    throw new UsageError(`--until ${until}: not an RFC 3339 time, such as 2026-12-01T08:00:00Z`);
  return { kind: 'until', at };
}

async function change(
  words: readonly string[],
  flags: ChangeFlags,
  requested: RequestedChange,
): Promise<void> {
  const target = parseTarget(words);
  const cluster = await reachCluster(flags, process.env, realClock);
  const { transport, credentials, server } = cluster;
  const say = (): void => sayToUser(`waiting for a response of ${server}`);
  const client = createClient({
    transport: impatient(transport, { clock: realClock, say }),
    credentials,
    clock: realClock,
    random: systemRandom,
    onWarning: (warning) => sayToUser(terminalText(`warning: ${warning}`)),
  });
  try {
    const sources = forecastSources({}, { config: flags.config, isFromFiles: false });
    const document = await loadForCluster(FAMILIES, sources, client, sayToUser);
    const served = await client.discovery.all();
    const changed = await changeObject({
      client,
      explain: explainOptionsOf(client, served, document),
      kind: resolveKind(served, target.kind),
      key: { name: target.name, namespace: flags.namespace ?? cluster.namespace ?? 'default' },
      requested,
      dryRun: flags.dryRun === true,
    });
    process.exitCode = print(changed, flags, words.join(' '), namingAmong(served));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    sayToUser(terminalText(error.message));
    process.exitCode = 3;
  } finally {
    await cluster.close();
  }
}

function print(
  changed: Changed,
  { output, dryRun = false }: ChangeFlags,
  asked: string,
  naming: ReturnType<typeof namingAmong>,
): number {
  const unread = changed.kind === 'refused' ? changed.unread : changed.after.unread;
  for (const what of unread) sayToUser(terminalText(`not considered, because it cannot be read: ${what}`));
  if (changed.kind === 'refused') {
    sayToUser(terminalText(`${asked} was not changed: ${changed.why}`));
    return NOT_HONORED;
  }
  process.stdout.write(output === 'json' ? madeJson(changed, dryRun) : madeText(changed, naming, dryRun));
  return 0;
}
