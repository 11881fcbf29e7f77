// lapse crds: prints the CustomResourceDefinitions of the controllers, or applies them.

import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import { createClient } from '@lapse/kube/client/client';
import { Command, Option } from 'commander';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { type ClusterFlags, reachCluster } from '#manager/cluster';
import { applyCrds, kindsOf, namesOf } from '#manager/crds';
import { selectFamilies } from '#manager/selection';
import { UsageError } from '#manager/usage';
import { objectsText } from './documents.ts';

interface CrdsFlags extends ClusterFlags {
  readonly controllers: string;
  readonly output: 'yaml' | 'json';
  readonly apply?: boolean;
}

const HELP = `
Examples:
  lapse crds --apply
  lapse crds --apply --controllers=*,storage-pool
  lapse crds -o json > definitions.json

--apply does not change a CRD that is not labelled as part of Lapse.
kubectl apply replaces a CRD of the same name that another owner installed.`;

export function crdsCommand(): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions of the controllers, or apply them')
    .option(
      '--controllers <names>',
      'controllers, as for lapse run; * selects those that are on by default',
      '*',
    )
    .option('--apply', 'apply them to the cluster; CRDs of other owners are not changed')
    .option('--kubeconfig <file>', 'the kubeconfig (default: the one that kubectl uses)')
    .option('--context <name>', 'the context of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'yaml or json').choices(['yaml', 'json']).default('yaml'))
    .addHelpText('after', HELP)
    .action(async (flags: CrdsFlags, parsed: Command) => {
      const selected = selectForCrds(flags.controllers);
      if (parsed.getOptionValueSource('controllers') === 'default') process.stderr.write(leftOut(selected));
      const kinds = kindsOf(selected);
      if (flags.apply === true) return applyToCluster(flags, kinds);
      process.stdout.write(
        objectsText(
          kinds.map(({ crd }) => crd),
          flags.output,
        ),
      );
    });
}

/** Throws a UsageError if no controller is named, or none that has CRDs. */
export function selectForCrds(controllers: string): Family[] {
  const selected = selectFamilies(FAMILIES, controllers.split(',').filter(Boolean));
  const all = namesOf(FAMILIES).join(', ');
  if (selected.length === 0)
    throw new UsageError(`--controllers=${controllers} selects no controller; those with CRDs are ${all}`);
  if (namesOf(selected).length === 0)
    throw new UsageError(`--controllers=${controllers} has no CRDs; those with CRDs are ${all}`);
  return selected;
}

/** The hint for users who named no controllers. */
function leftOut(selected: readonly Family[]): string {
  const names = namesOf(FAMILIES.filter((family) => !selected.includes(family)));
  return `lapse: CRDs of controllers that are off by default are not included; --controllers=*,${names.join()} adds them\n`;
}

async function applyToCluster(flags: ClusterFlags, kinds: readonly CustomKind[]): Promise<void> {
  const cluster = await reachCluster(flags, process.env, realClock);
  try {
    const { transport, credentials } = cluster;
    const client = createClient({ transport, credentials, clock: realClock, random: systemRandom });
    const foreign = await applyCrds(client, realClock, kinds);
    for (const { crd } of kinds) {
      const name = crd.metadata.name!;
      process.stdout.write(
        `${name} ${foreign.includes(name) ? 'belongs to another owner, not changed' : 'applied'}\n`,
      );
    }
  } finally {
    await cluster.close();
  }
}
