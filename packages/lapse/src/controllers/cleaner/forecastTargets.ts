// Finds the objects of a Cleaner's targets in a snapshot, with the same selection as reconciles use on their caches.

import { type Kind, keyOf, metadataOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Cleaner } from '#api/cleaner';
import type { ForecastContext, Snapshot } from '../forecaster.ts';
import { type Found, MOST_BOUND, projectionOf, type Resolved } from './snapshot.ts';
import type { Meaning } from './spec.ts';
import { fromCache, sortKinds } from './targets.ts';

export interface CleanerRules {
  readonly bindSecretData: boolean;
  readonly helmPurgeIncomplete: boolean;
  readonly requireAuthor: boolean;
  readonly defaultAccount?: string;
}

export interface Around {
  readonly forecastContext: ForecastContext;
  readonly rules: CleanerRules;
  readonly cleaner: Cleaner;
}

export type Targets =
  | { readonly kind: 'found'; readonly found: readonly Found[] }
  | { readonly kind: 'problem'; readonly why: string };

export async function findTargets(
  { forecastContext, rules, cleaner }: Around,
  meaning: Meaning,
): Promise<Targets> {
  const { snapshot } = forecastContext;
  const { resolved, unserved, refused } = sortKinds(snapshot.served, meaning.targets);
  const [wrong] = refused;
  if (wrong !== undefined) return { kind: 'problem', why: `target ${wrong.target.name}: ${wrong.why}` };
  const missing = unserved.find(({ included }) => included);
  if (missing !== undefined) {
    const { kind, apiGroup = '' } = missing.reference;
    return { kind: 'problem', why: `the server does not serve ${kind}.${apiGroup} (${missing.name})` };
  }
  const namespace = cleaner.metadata.namespace ?? '';
  const found: Found[] = [];
  for (const one of resolved) {
    if (!one.target.included && !one.target.delete) continue;
    const objects = await readTarget(snapshot, one, namespace, rules.bindSecretData);
    found.push(fromCache(one, { reader: readerOf(objects) }, namespace, MOST_BOUND));
  }
  return { kind: 'found', found };
}

/** Objects that conditions do not read are read as metadata only. */
const readTarget = (
  snapshot: Snapshot,
  { target, kind }: Resolved,
  namespace: string,
  bindSecretData: boolean,
): Promise<readonly KubeObject[]> =>
  target.included
    ? snapshot.list({ kind, namespace, projection: projectionOf(kind, bindSecretData) })
    : snapshot.list({ kind: metadataOf(kind) as Kind, namespace });

const readerOf = (objects: readonly KubeObject[]) => ({
  get: ({ name }: { readonly name: string }) => objects.find((object) => keyOf(object).name === name),
  list: () => objects,
});
