// The CustomResourceDefinitions of the selected controllers, and how they are applied. An existing CRD that is not
// labelled as part of Lapse is not changed.

import type { Clock } from '@lapse/base/clock';
import { millis } from '@lapse/base/instant';
import { sleep } from '@lapse/base/sleep';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { type CustomKind, OURS } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import type { Family } from '#controllers/family';
import { FAMILIES } from '#controllers/registry';

/** Every kind once, by name. */
export function kindsOf(families: readonly Family[]): CustomKind[] {
  const byName = new Map(
    families.flatMap(({ kinds }) => kinds).map((kind) => [kind.crd.metadata.name!, kind]),
  );
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
}

/** Names of the families that have CRDs and that this command knows. */
export const namesOf = (families: readonly Pick<Family, 'name'>[]): string[] =>
  FAMILIES.filter(({ name, kinds }) => kinds.length > 0 && families.some((one) => one.name === name)).map(
    ({ name }) => name,
  );

/**
 * The command that installs the CRDs of these families, for messages. Unlike kubectl it does not change foreign
 * CRDs. Undefined if it knows none of them (a module installs its own).
 */
export function applyCommand(families: readonly Pick<Family, 'name'>[]): string | undefined {
  const names = namesOf(families);
  if (names.length === 0) return undefined;
  const usual = namesOf(FAMILIES.filter(({ defaultOn }) => defaultOn));
  return `lapse crds --apply${names.join() === usual.join() ? '' : ` --controllers=${names.join()}`}`;
}

export const isOurs = ({ metadata }: KubeObject): boolean =>
  Object.entries(OURS).every(([label, value]) => metadata.labels?.[label] === value);

/** Waits until the kinds are served. Returns the names of foreign CRDs that were not changed. */
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
      // A CRD that is not part of Lapse in the manifest either is only required to exist.
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
    // A real API server returns null before the first condition.
    const conditions = crd?.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    await sleep(clock, PAUSE);
  }
  throw new Error(`the definition ${name} was accepted but is not served`);
}
