// lapse manifests: prints all objects of an installation except the CRDs. The chart in config/chart generates the
// same objects with more options; a test compares the two.

import { VERSION } from '@lapse/base/version';
import type { KubeObject } from '@lapse/kube/api/object';
import { Command, Option } from 'commander';
import { type ImpersonationScope, parseImpersonation } from '#authors/impersonation';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { readGeneral } from '#manager/configuration/general';
import { loadConfiguration } from '#manager/configuration/load';
import { computeGates, selectFamilies } from '#manager/selection';
import { UsageError } from '#manager/usage';
import { objectsText } from '../documents.ts';
import { buildInstallationAccess } from './access.ts';
import type { ActAs, Installation } from './installation.ts';
import { type FamilyNeeds, needsOf } from './needs.ts';
import { buildPolicies } from './policies.ts';
import { buildWebhooks } from './webhooks.ts';
import { buildWorkload } from './workload.ts';

interface ManifestsFlags {
  readonly namespace: string;
  readonly image: string;
  readonly replicas: string;
  readonly controllers: string;
  readonly featureGates: string;
  readonly actAs: ActAs;
  readonly impersonation?: string;
  readonly dryRun?: boolean;
  readonly createNamespace?: boolean;
  readonly output: 'yaml' | 'json';
}

/** Belongs to Lapse alone. Any other namespace may be shared, so its labels and lifetime are left to the user. */
const OWN_NAMESPACE = 'lapse-system';

export function manifestsCommand(): Command {
  return new Command('manifests')
    .description('print the manifests to run the controllers in a cluster; lapse crds prints the CRDs')
    .option('--namespace <name>', 'namespace of the installation', OWN_NAMESPACE)
    .option('--create-namespace', `also print the Namespace (default for ${OWN_NAMESPACE})`)
    .option('--image <image>', 'the image to run', `lapse:${VERSION}`)
    .option('--replicas <n>', 'number of replicas; one of them is the leader', '2')
    .option('--controllers <names>', 'as for lapse run', '*')
    .option('--feature-gates <gates>', 'as for lapse run', '')
    .addOption(
      new Option('--act-as <whose>', 'as for lapse run')
        .choices(['author', 'controller', 'impersonate-author'])
        .default('author'),
    )
    .option(
      '--impersonation <where>',
      'where Lapse may act as service accounts that Cleaners and policies name: none, cluster, or namespaces',
      'none',
    )
    .option('--dry-run', 'run in dry-run mode: nothing is changed')
    .addOption(new Option('-o, --output <format>', 'yaml or json').choices(['yaml', 'json']).default('yaml'))
    .addHelpText(
      'after',
      [
        '',
        'Examples:',
        '  lapse crds --apply',
        '  lapse manifests --image registry.example.com/lapse:0.1.0 | kubectl apply --server-side -f -',
      ].join('\n'),
    )
    .action((flags: ManifestsFlags) => {
      const objects = buildManifests(readInstallation(flags));
      process.stdout.write(objectsText(objects, flags.output));
    });
}

/** Validates the flags with the same code as `lapse run`. */
export function readInstallation(
  flags: Omit<ManifestsFlags, 'output'>,
  needs: (family: Family) => FamilyNeeds = (family) => needsOf(family, FAMILIES),
): Installation {
  const { namespace, image, controllers, featureGates, actAs, dryRun = false } = flags;
  if (!/^\d{1,4}$/.test(flags.replicas))
    throw new UsageError(`--replicas must be a whole number from 0 to 9999, got "${flags.replicas}"`);
  if (!/^[\w.:/@-]+$/.test(image))
    throw new UsageError(
      `--image must be an image such as registry.example.com/lapse:${VERSION}, got "${image}"`,
    );
  const given = { namespace, controllers, 'act-as': actAs };
  const gates: Record<string, string> = featureGates === '' ? {} : { 'feature-gates': featureGates };
  const general = readGeneral(
    loadConfiguration(FAMILIES, { flags: { ...given, ...gates }, environment: {} }),
  );
  computeGates(FAMILIES, general.featureGates);
  const words = general.controllers ?? [];
  const selected = selectFamilies(FAMILIES, words);
  if (selected.length === 0) throw new UsageError(`--controllers=${controllers} selects no controller`);
  return {
    name: 'lapse',
    namespace,
    createNamespace: flags.createNamespace ?? namespace === OWN_NAMESPACE,
    image,
    replicas: Number(flags.replicas),
    controllers: words,
    featureGates: general.featureGates,
    actAs,
    impersonation: readImpersonation(flags.impersonation),
    dryRun,
    families: selected.map(needs),
  };
}

/** Format: `none`, `cluster`, or namespaces such as `ci,preview`. */
function readImpersonation(text = 'none'): ImpersonationScope {
  const value = text === 'none' || text === 'cluster' ? text : { namespaces: text.split(',') };
  try {
    return parseImpersonation(value, '');
  } catch {
    throw new UsageError(
      `--impersonation must be none, cluster, or namespaces such as ci,preview, got "${text}"`,
    );
  }
}

/** In the order in which they can be applied. */
export function buildManifests(installation: Installation): KubeObject[] {
  return [
    ...(installation.createNamespace ? [namespaceOf(installation)] : []),
    ...buildInstallationAccess(installation),
    ...buildWorkload(installation),
    ...buildWebhooks(installation),
    ...buildPolicies(installation),
  ];
}

const namespaceOf = ({ namespace }: Installation): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
});
