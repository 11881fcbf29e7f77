// lapse crds: the definitions of our kinds, to be applied. Applied by ourselves they never replace somebody else's: a
// definition of the same name that is not labelled as ours stays as it is.

import { Command, Option } from 'commander';
import { stringify } from 'yaml';
import { CustomResourceDefinition } from '#api/kinds/builtin';
import { type CustomKind, OURS } from '#api/kinds/customKind';
import type { KubeObject } from '#api/object';
import type { Clock } from '#base/clock';
import { millis } from '#base/instant';
import { sleep } from '#base/sleep';
import { type Client, objectOf } from '#client/client';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';
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
    const { conditions = [] } = crd?.status ?? {};
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    await sleep(clock, PAUSE);
  }
  throw new Error(`the definition ${name} was accepted but is not served`);
}

interface CrdsFlags {
  readonly controllers: string;
  readonly output: 'yaml' | 'json';
}

export function crdsCommand(): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions of the controllers, to be applied')
    .option('--controllers <names>', 'only of these, as for lapse run', '*')
    .addOption(new Option('-o, --output <format>', 'yaml or json').choices(['yaml', 'json']).default('yaml'))
    .addHelpText('after', '\nExample:\n  lapse crds | kubectl apply --server-side -f -')
    .action(({ controllers, output }: CrdsFlags) => {
      const everything = FAMILIES.map((family) => ({ ...family, defaultOn: true }));
      const selected = selectFamilies(everything, controllers.split(',').filter(Boolean));
      const definitions = kindsOf(selected).map(({ crd }) => crd);
      process.stdout.write(output === 'json' ? asJsonList(definitions) : asYaml(definitions));
    });
}

const asYaml = (objects: readonly KubeObject[]): string =>
  objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');

const asJsonList = (items: readonly KubeObject[]): string =>
  `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`;
