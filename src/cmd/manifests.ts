// lapse manifests: everything but the definitions of our kinds, as plain objects to be applied. The chart in config/chart
// says the same with more to choose from; a test holds the two together.

import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import type { KubeObject } from '#api/object';
import { VERSION } from '#base/version';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { readGeneral } from './configuration/general.ts';
import { loadConfiguration } from './configuration/load.ts';
import { buildInstallationAccess } from './manifests/access.ts';
import type { Installation } from './manifests/installation.ts';
import { type FamilyNeeds, needsOf } from './manifests/needs.ts';
import { buildWebhooks } from './manifests/webhooks.ts';
import { buildWorkload } from './manifests/workload.ts';
import { computeGates, selectFamilies } from './selection.ts';
import { UsageError } from './usage.ts';

interface ManifestsFlags {
  readonly namespace: string;
  readonly image: string;
  readonly replicas: string;
  readonly controllers: string;
  readonly featureGates: string;
  readonly actAs: 'author' | 'controller';
  readonly dryRun?: boolean;
  readonly output: 'yaml' | 'json';
}

export function manifestsCommand(): Command {
  return new Command('manifests')
    .description('print what to apply to run the controllers in a cluster; lapse crds prints the definitions')
    .option('--namespace <name>', 'where it is installed', 'lapse-system')
    .option('--image <image>', 'the image to run', `lapse:${VERSION}`)
    .option('--replicas <n>', 'how many processes; one of them acts', '2')
    .option('--controllers <names>', 'as for lapse run', '*')
    .option('--feature-gates <gates>', 'as for lapse run', '')
    .addOption(
      new Option('--act-as <whose>', 'as for lapse run').choices(['author', 'controller']).default('author'),
    )
    .option('--dry-run', 'the processes change nothing')
    .addOption(new Option('-o, --output <format>', 'yaml or json').choices(['yaml', 'json']).default('yaml'))
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  lapse crds | kubectl apply --server-side -f -',
        '  lapse manifests --image registry.example.com/lapse:0.1.0 | kubectl apply --server-side -f -',
      ].join('\n'),
    )
    .action((flags: ManifestsFlags) => {
      const objects = buildManifests(readInstallation(flags));
      process.stdout.write(flags.output === 'json' ? asJsonList(objects) : asYaml(objects));
    });
}

/** Checks the words with the same code that `lapse run` uses. */
export function readInstallation(
  flags: Omit<ManifestsFlags, 'output'>,
  needs: (family: Family) => FamilyNeeds = (family) => needsOf(family, FAMILIES),
): Installation {
  const { namespace, image, controllers, featureGates, actAs, dryRun = false } = flags;
  const replicas = Number(flags.replicas);
  if (!Number.isInteger(replicas) || replicas < 0)
    throw new UsageError(`--replicas must be a whole number, got "${flags.replicas}"`);
  const given = { namespace, controllers, 'act-as': actAs };
  const gates: Record<string, string> = featureGates === '' ? {} : { 'feature-gates': featureGates };
  const general = readGeneral(
    loadConfiguration(FAMILIES, { flags: { ...given, ...gates }, environment: {} }),
  );
  computeGates(FAMILIES, general.featureGates);
  const words = general.controllers ?? [];
  const selected = selectFamilies(FAMILIES, words);
  if (selected.length === 0) throw new UsageError(`--controllers=${controllers} leaves nothing to run`);
  return {
    name: 'lapse',
    namespace,
    image,
    replicas,
    controllers: words,
    featureGates: general.featureGates,
    actAs,
    dryRun,
    families: selected.map(needs),
  };
}

/** In the order in which they can be applied. */
export function buildManifests(installation: Installation): KubeObject[] {
  const enforce = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: installation.namespace, labels: enforce } },
    ...buildInstallationAccess(installation),
    ...buildWorkload(installation),
    ...buildWebhooks(installation),
  ];
}

const asYaml = (objects: readonly KubeObject[]): string =>
  objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');

const asJsonList = (items: readonly KubeObject[]): string =>
  `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`;
