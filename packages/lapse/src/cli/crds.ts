// lapse crds: the definitions of our kinds, to be applied. Applied by ourselves they never replace somebody else's: a
// definition of the same name that is not labelled as ours stays as it is.

import { type Clock, realClock } from '@lapse/base/clock';
import { millis } from '@lapse/base/instant';
import { systemRandom } from '@lapse/base/random';
import { sleep } from '@lapse/base/sleep';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { type CustomKind, OURS } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { Command, Option } from 'commander';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { type ClusterFlags, reachCluster } from './cluster.ts';
import { objectsText } from './documents.ts';
import { selectFamilies } from './selection.ts';
import { UsageError } from './usage.ts';

/** Every kind once, by name. */
export function kindsOf(families: readonly Family[]): CustomKind[] {
  const byName = new Map(
    families.flatMap(({ kinds }) => kinds).map((kind) => [kind.crd.metadata.name!, kind]),
  );
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
}

/** Names of those that have kinds, and are among those that this command knows. */
const namesOf = (families: readonly Pick<Family, 'name'>[]): string[] =>
  FAMILIES.filter(({ name, kinds }) => kinds.length > 0 && families.some((one) => one.name === name)).map(
    ({ name }) => name,
  );

/**
 * The command that brings the definitions of these families, for people: unlike kubectl it leaves alone what is not ours.
 * Undefined when it knows none of them (a module brings its own).
 */
export function applyCommand(families: readonly Pick<Family, 'name'>[]): string | undefined {
  const names = namesOf(families);
  if (names.length === 0) return undefined;
  const usual = namesOf(FAMILIES.filter(({ defaultOn }) => defaultOn));
  return `lapse crds --apply${names.join() === usual.join() ? '' : ` --controllers=${names.join()}`}`;
}

export const isOurs = ({ metadata }: KubeObject): boolean =>
  Object.entries(OURS).every(([label, value]) => metadata.labels?.[label] === value);

/** Waits until the kinds are served. Answers the names of definitions that are not ours and were left alone. */
export async function applyCrds(
  client: Client,
  clock: Clock,
  kinds: readonly CustomKind[],
): Promise<string[]> {
  const foreign: string[] = [];
  for (const { crd } of kinds) {
    const key = { name: crd.metadata.name! };
    const there = await client.get(CustomResourceDefinition, key);
    if (there !== undefined && !isOurs(there)) {
      // One that does not claim to be ours either is simply there already.
      if (isOurs(crd)) foreign.push(key.name);
      continue;
    }
    objectOf(await client.apply(CustomResourceDefinition, crd, { force: true }));
  }
  for (const { crd } of kinds)
    if (!foreign.includes(crd.metadata.name!)) await untilServed(client, clock, crd.metadata.name!);
  client.discovery.invalidate();
  return foreign;
}

const LOOKS = 200;
const PAUSE = millis(50);

async function untilServed(client: Client, clock: Clock, name: string): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    const crd = await client.get(CustomResourceDefinition, { name });
    // A real server says null before it has said anything.
    const conditions = crd?.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    await sleep(clock, PAUSE);
  }
  throw new Error(`the definition ${name} was accepted but is not served`);
}

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

--apply leaves a definition alone that is not labelled as ours. kubectl does not:
applied by it, what is printed here takes over somebody else's of the same name.`;

export function crdsCommand(): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions of the controllers, or apply them')
    .option('--controllers <names>', 'of these, as for lapse run: * is what is on by default', '*')
    .option('--apply', 'apply them to the cluster; those that are not ours are left alone')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl finds it)')
    .option('--context <name>', 'which context of the kubeconfig')
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

/** Throws UsageError when nothing is named, or nothing that has kinds of its own. */
export function selectForCrds(controllers: string): Family[] {
  const selected = selectFamilies(FAMILIES, controllers.split(',').filter(Boolean));
  const all = namesOf(FAMILIES).join(', ');
  if (selected.length === 0)
    throw new UsageError(`--controllers=${controllers} leaves nothing; those with kinds are ${all}`);
  if (namesOf(selected).length === 0)
    throw new UsageError(`--controllers=${controllers} has no kinds of its own; those that have are ${all}`);
  return selected;
}

/** For whoever did not say which. */
function leftOut(selected: readonly Family[]): string {
  const names = namesOf(FAMILIES.filter((family) => !selected.includes(family)));
  return `lapse: without those that are off by default; --controllers=*,${names.join()} adds them\n`;
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
        `${name} ${foreign.includes(name) ? "is somebody else's, left alone" : 'applied'}\n`,
      );
    }
  } finally {
    await cluster.close();
  }
}
