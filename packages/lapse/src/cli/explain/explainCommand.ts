// lapse explain KIND/NAME: why an object is deleted or kept, when, by which rule, what blocks it, and what to do
// next. Read-only, and reads only what is needed.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import { Command, Option } from 'commander';
import { FAMILIES } from '#controllers/registry';
import { explainObject } from '#forecast/explain/explainObject';
import type { Explanation } from '#forecast/explain/explanation';
import { findObject, Refused } from '#forecast/explain/findObject';
import { namingAmong, parseTarget, resolveKind } from '#forecast/resolveKind';
import { loadForCluster } from '#manager/configuration/installation';
import { loadConfiguration } from '#manager/configuration/load';
import { collectModules as collect } from '#manager/loadModules';
import { parseNamespace } from '#manager/usage';
import { wantsColour, widthOf } from '../colour.ts';
import { exitCodesHelp } from '../exitCodes.ts';
import { explainOptionsOf } from '../explainOptions.ts';
import { withSettings } from '../flags.ts';
import { forecastSources } from '../forecastSources.ts';
import { openManifests } from '../manifestFiles.ts';
import { openCluster, sayToUser } from '../readOnlyCluster.ts';
import { terminalText } from '../terminalText.ts';
import { explanationJson, explanationYaml } from './document.ts';
import { explanationText } from './text.ts';

const FORMATS = ['text', 'json', 'yaml'] as const;

interface ExplainFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly config?: string;
  readonly namespace?: string;
  readonly filename?: readonly string[];
  readonly output: (typeof FORMATS)[number];
  readonly cascade?: boolean;
}

/** Settings without effect here: an explanation neither acts, nor elects a leader, nor serves. */
const WITHOUT_EFFECT =
  /^(namespace|dry-run|api-|leader-elect|kube-api|metrics|webhook|log-|verbosity|max-deletions|paranoid|deletion-events|concurrent-)/;

export function explainCommand(): Command {
  const command = new Command('explain')
    .description('show why an object is deleted or kept, when, by which rule, and what blocks it; read-only')
    .argument('<object...>', 'KIND/NAME, such as job/report-42')
    .option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)')
    .option('--context <name>', 'the context of the kubeconfig')
    .option('--config <file>', 'a LapseConfiguration in YAML, as for lapse run')
    .option(
      '-n, --namespace <name>',
      'namespace of the object (default: that of the context)',
      parseNamespace,
    )
    .option('-f, --filename <file>', 'manifests instead of a cluster; may be repeated', collect)
    .addOption(new Option('-o, --output <format>', 'output format').choices(FORMATS).default('text'))
    .option(
      '--cascade',
      'also list the dependents that the garbage collector deletes; reads the metadata of all kinds',
    );
  const settings = withSettings(command, FAMILIES, { without: (flag) => WITHOUT_EFFECT.test(flag) });
  return command
    .addHelpText('after', HELP)
    .action(async (words: readonly string[], flags: ExplainFlags, parsed: Command) => {
      const target = parseTarget(words);
      const { filename, config } = flags;
      const isFromFiles = filename !== undefined;
      const sources = forecastSources(settings.given(parsed), { config, isFromFiles });
      // Errors in flags are reported before the cluster is contacted.
      const local = loadConfiguration(FAMILIES, sources);
      const origin = await (isFromFiles ? fromFiles(filename) : fromCluster(flags));
      try {
        const document = isFromFiles
          ? local
          : await loadForCluster(FAMILIES, sources, origin.client, sayToUser);
        const served = await origin.client.discovery.all();
        const explanation = await explainTarget(origin, { target, flags, document, served });
        process.stdout.write(rendered(explanation, flags.output, served));
        process.exitCode = explanation.unread.length === 0 ? 0 : 3;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        process.stderr.write(`lapse: ${terminalText(error.message)}\n`);
        process.exitCode = 3;
      } finally {
        await origin.close();
      }
    });
}

interface Request {
  readonly target: ReturnType<typeof parseTarget>;
  readonly flags: ExplainFlags;
  readonly document: JsonObject;
  readonly served: readonly ServedKind[];
}

async function explainTarget(
  { client, namespace: home }: Origin,
  { target, flags, document, served }: Request,
): Promise<Explanation> {
  const kind = resolveKind(served, target.kind);
  const found = await findObject(client, kind, { name: target.name, namespace: flags.namespace ?? home });
  const options = { ...explainOptionsOf(client, served, document), cascade: flags.cascade === true };
  return explainObject(options, kind, found);
}

function rendered(
  explanation: Explanation,
  format: ExplainFlags['output'],
  served: readonly ServedKind[],
): string {
  switch (format) {
    case 'json':
      return explanationJson(explanation);
    case 'yaml':
      return explanationYaml(explanation);
    case 'text':
      return explanationText(explanation, {
        colour: wantsColour(process.stdout),
        columns: widthOf(process.stdout),
        naming: namingAmong(served),
      });
  }
}

interface Origin {
  readonly client: Client;
  /** The default namespace of objects. */
  readonly namespace: string;
  close(): Promise<void>;
}

async function fromFiles(files: readonly string[]): Promise<Origin> {
  const { client, close } = await openManifests(files);
  return { client, namespace: 'default', close };
}

async function fromCluster(flags: ExplainFlags): Promise<Origin> {
  const { client, cluster } = await openCluster(flags);
  const { namespace = 'default', close } = cluster;
  return { client, namespace, close };
}

const HELP = `
${exitCodesHelp()}

Examples:
  lapse explain job/report-42
  lapse explain pod report-42-x7k2p -n ci
  lapse explain cleaner/preview-182 -n previews -o yaml
  lapse explain job/report-42 --cascade
  lapse explain job/report-42 -f jobs.yaml -f policies.yaml`;
