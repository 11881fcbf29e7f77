// lapse crds: the definitions of our kinds, to be applied. Applied by ourselves they never replace somebody else's: a
// definition of the same name that is not labelled as ours stays as it is.

import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { CustomResourceDefinition } from '#api/kinds/builtin';
import { type CustomKind, OURS } from '#api/kinds/customKind';
import type { KubeObject } from '#api/object';
import { type Clock, realClock } from '#base/clock';
import { millis } from '#base/instant';
import { systemRandom } from '#base/random';
import { sleep } from '#base/sleep';
import { type Client, createClient, objectOf } from '#client/client';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
import { type ClusterFlags, reachCluster } from './cluster.ts';
import { selectFamilies } from './selection.ts';

/** Every kind once, by name. */
export function kindsOf(families: readonly Family[]): CustomKind[] {
  const byName = new Map(
    families.flatMap(({ kinds }) => kinds).map((kind) => [kind.crd.metadata.name!, kind]),
  );
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
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

export function crdsCommand(): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions of the controllers, or apply them')
    .option('--controllers <names>', 'only of these, as for lapse run', '*')
    .option('--apply', 'apply them to the cluster; those that are not ours are left alone')
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl finds it)')
    .option('--context <name>', 'which context of the kubeconfig')
    .addOption(new Option('-o, --output <format>', 'yaml or json').choices(['yaml', 'json']).default('yaml'))
    .addHelpText(
      'after',
      '\nExamples:\n  lapse crds --controllers=ttl-policy,cleaner --apply\n  lapse crds | kubectl apply --server-side -f -',
    )
    .action(async (flags: CrdsFlags) => {
      const everything = FAMILIES.map((family) => ({ ...family, defaultOn: true }));
      const selected = selectFamilies(everything, flags.controllers.split(',').filter(Boolean));
      const kinds = kindsOf(selected);
      if (flags.apply === true) return applyToCluster(flags, kinds);
      const definitions = kinds.map(({ crd }) => crd);
      process.stdout.write(flags.output === 'json' ? asJsonList(definitions) : asYaml(definitions));
    });
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

const asYaml = (objects: readonly KubeObject[]): string =>
  objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');

const asJsonList = (items: readonly KubeObject[]): string =>
  `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`;
