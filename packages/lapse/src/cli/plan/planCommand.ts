// lapse plan: what will be deleted in the next days, why, and with which dependents. Reads a cluster or manifests,
// and writes nothing.

import { realClock } from '@lapse/base/clock';
import type { Millis } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import { Namespace } from '@lapse/kube/api/kinds/builtin';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { Command, Option } from 'commander';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { Owners } from '#forecast/cascade/read';
import { makePlan } from '#forecast/makePlan';
import type { Plan } from '#forecast/plan';
import { type Naming, namingAmong } from '#forecast/resolveKind';
import { createSnapshot, readingFrom } from '#forecast/snapshot';
import { readGeneral } from '#manager/configuration/general';
import { loadForCluster } from '#manager/configuration/installation';
import { loadConfiguration } from '#manager/configuration/load';
import { selectFamilies } from '#manager/selection';
import { parseNamespace, UsageError } from '#manager/usage';
import { wantsColour, widthOf } from '../colour.ts';
import { exitCodesHelp } from '../exitCodes.ts';
import { withSettings } from '../flags.ts';
import { forecastSources } from '../forecastSources.ts';
import { openManifests } from '../manifestFiles.ts';
import { openCluster, sayToUser } from '../readOnlyCluster.ts';
import { horizon, parseSpan } from '../times.ts';
import { jsonPieces, planYaml } from './document.ts';
import { openProgress } from './progress.ts';
import { planPieces } from './text.ts';
import { writePieces } from './write.ts';

const FORMATS = ['text', 'wide', 'json', 'yaml', 'html', 'svg'] as const;

interface PlanFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly config?: string;
  readonly namespace?: string;
  readonly for: string;
  readonly output: (typeof FORMATS)[number];
  readonly cascade: boolean;
  readonly progress?: boolean;
}

/** Settings without effect here: a plan neither acts, nor elects a leader, nor serves. */
const WITHOUT_EFFECT =
  /^(namespace|dry-run|api-|leader-elect|kube-api|metrics|webhook|log-|verbosity|max-deletions|paranoid|deletion-events|concurrent-)/;

export function planCommand(): Command {
  const command = new Command('plan')
    .description('show what will be deleted in the next days, why, and with which dependents; read-only')
    .argument('[files...]', 'manifests instead of a cluster: files, directories, - for standard input')
    .option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)')
    .option('--context <name>', 'the context of the kubeconfig')
    .option('--config <file>', 'a LapseConfiguration in YAML, as for lapse run')
    .option('-n, --namespace <name>', 'only deletions in this namespace', parseNamespace)
    .option('--for <time>', 'how far ahead: 12h, 7d, 2w', '7d')
    .addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS).default('text'))
    .option('--no-cascade', 'do not read owner references: faster, without dependents')
    .option('--progress', 'report on standard error what is being read (default: on a terminal)');
  const settings = withSettings(command, FAMILIES, { without: (flag) => WITHOUT_EFFECT.test(flag) });
  return command
    .addHelpText('after', HELP)
    .action(async (files: readonly string[], flags: PlanFlags, parsed: Command) => {
      const span = parseSpan(flags.for);
      const { config } = flags;
      const sources = forecastSources(settings.given(parsed), { config, isFromFiles: files.length > 0 });
      // Errors in flags are reported before the cluster is contacted.
      const local = loadConfiguration(FAMILIES, sources);
      familiesOf(local);
      const progress = openProgress(flags.progress ?? process.stderr.isTTY === true);
      const source = await (files.length > 0 ? fromFiles(files) : fromCluster(flags));
      try {
        const document = source.isCluster
          ? await loadForCluster(FAMILIES, sources, source.client, sayToUser)
          : local;
        const served = await source.client.discovery.all();
        const plan = await planFor(source, { span, flags, document, served, onRead: progress.read });
        progress.done();
        const complete = withUnread(plan, source.unread);
        const { namespace } = flags;
        const shown =
          namespace === undefined ? complete : { ...complete, view: await viewOf(source, namespace) };
        process.exitCode = complete.unread === undefined ? 0 : 3;
        await writePieces(process.stdout, await rendered(shown, flags.output, namingAmong(served)));
      } finally {
        progress.done();
        await source.close();
      }
    });
}

interface PlanRequest {
  readonly span: Millis;
  readonly flags: PlanFlags;
  readonly document: JsonObject;
  readonly served: readonly ServedKind[];
  readonly onRead: (kind: Kind, count: number) => void;
}

function planFor(
  { client, name: cluster }: Origin,
  { span, flags, document, served, onRead }: PlanRequest,
): Promise<Plan> {
  const general = readGeneral(document);
  const now = realClock.now();
  const { namespace: view } = flags;
  const owners = flags.cascade ? new Owners(served, view ?? general.namespace) : undefined;
  const watching = { onRead, ...(owners === undefined ? {} : { witness: owners }) };
  return makePlan({
    snapshot: createSnapshot(served, readingFrom(client, watching), undefined, view),
    ...(view === undefined ? {} : { view }),
    now,
    until: horizon(now, span),
    cluster,
    general,
    document,
    known: FAMILIES,
    selected: familiesOf(document),
    ...(owners === undefined ? {} : { owners }),
  });
}

function familiesOf(document: JsonObject): readonly Family[] {
  const selected = selectFamilies(FAMILIES, readGeneral(document).controllers ?? ['*']);
  if (selected.length === 0) throw new UsageError('--controllers selects no controller that deletes objects');
  return selected;
}

const withUnread = (plan: Plan, more: readonly string[]): Plan =>
  more.length === 0 ? plan : { ...plan, unread: [...(plan.unread ?? []), ...more] };

/** A mistyped namespace would show an empty plan. Files need not contain their namespaces. */
async function viewOf({ client, isCluster }: Origin, namespace: string): Promise<NonNullable<Plan['view']>> {
  if (!isCluster) return { namespace, exists: true };
  try {
    return { namespace, exists: (await client.get(Namespace, { name: namespace })) !== undefined };
  } catch (error) {
    // Without the right to read it, the namespace is assumed to exist.
    if (error instanceof ApiError) return { namespace, exists: true };
    throw error;
  }
}

async function rendered(plan: Plan, format: PlanFlags['output'], naming: Naming): Promise<Iterable<string>> {
  switch (format) {
    case 'json':
      return jsonPieces(plan);
    case 'yaml':
      return [planYaml(plan)];
    case 'html':
      return [(await import('#console/page')).planPage(plan)];
    case 'svg':
      return [(await import('#console/svg')).planSvg(plan)];
    case 'text':
    case 'wide':
      return planPieces(plan, {
        colour: wantsColour(process.stdout),
        columns: widthOf(process.stdout),
        wide: format === 'wide',
        naming,
      });
  }
}

interface Origin {
  readonly client: Client;
  readonly isCluster: boolean;
  readonly name: string;
  readonly unread: readonly string[];
  close(): Promise<void>;
}

async function fromFiles(files: readonly string[]): Promise<Origin> {
  const { client, unknown, close } = await openManifests(files);
  return { client, isCluster: false, name: files.join(', '), unread: unknown, close };
}

async function fromCluster(flags: PlanFlags): Promise<Origin> {
  const { client, cluster } = await openCluster(flags);
  const { description: name, close } = cluster;
  return { client, isCluster: true, name, unread: [], close };
}

const HELP = `
${exitCodesHelp()}

Examples:
  lapse plan
  lapse plan --kubeconfig prod.yaml --for 2d -n ci
  lapse plan --controllers=*,object-keeper,request-ttl -o json
  lapse plan -o html > plan.html
  lapse plan policies.yaml jobs.yaml`;
