// Reads the records of a release and plans its uninstall: from the API server with the rights of the actor, or from a
// snapshot for a forecast.

import type { Instant } from '@lapse/base/instant';
import { type Kind, metadataOf } from '@lapse/kube/api/kind';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { AuthorizedClient } from '#authors/authorizedClient';
import type { ManifestObject } from './manifest.ts';
import type { ReleaseKey } from './ownership.ts';
import { DRIVERS, MOST_REVISIONS, readStorage, STORAGE } from './readStorage.ts';
import { type Belonging, computeBelonging } from './removal.ts';
import { readStored, type Stored, storageSelector } from './storage.ts';
import {
  type ExceptedObject,
  planRelease,
  type UninstallPlan,
  type UninstallSteps,
} from './uninstallPlan.ts';
import {
  type Candidates,
  describeUnrecorded,
  findUnrecorded,
  ownedSelector,
  SEARCHED,
} from './unrecorded.ts';

export interface PlanOptions {
  readonly except: ExceptedObject;
  readonly now: Instant;
  /** Objects that may show that a release without a record is installed. */
  readonly targets: readonly Candidates[];
}

export type ReleasePlan =
  | UninstallPlan
  | { readonly kind: 'forbidden'; readonly why: string }
  | { readonly kind: 'tooMany' }
  /** The release is installed without a record, so nothing says what belongs to it. */
  | { readonly kind: 'unrecorded'; readonly why: string };

export async function readPlan(
  client: AuthorizedClient,
  release: ReleaseKey,
  { except, now, targets }: PlanOptions,
): Promise<ReleasePlan> {
  const read = await readStorage(client, release);
  if (read.kind === 'forbidden') return read;
  if (read.kind === 'notServed') return { kind: 'absent' };
  if (read.value.length > MOST_REVISIONS) return { kind: 'tooMany' };
  const plan = await planRelease(read.value, release, except, now);
  if (plan.kind !== 'absent') return plan;
  const why = await findUnrecorded(client, release, targets);
  return why === undefined ? plan : { kind: 'unrecorded', why };
}

/** The objects of a cluster, read-only. */
export interface ClusterReader {
  readonly served: readonly ServedKind[];
  list(source: { kind: Kind; namespace?: string; labelSelector?: string }): Promise<readonly KubeObject[]>;
}

export interface ObjectOfRelease {
  readonly kind: Kind;
  readonly object: KubeObject;
}

export interface PlannedObjects {
  readonly records: readonly ObjectOfRelease[];
  /** In the order of their deletion. */
  readonly objects: readonly (ObjectOfRelease & { readonly belonging: Belonging })[];
}

/** The plan for a snapshot, and the objects of the snapshot that it concerns. */
export async function planFromSnapshot(
  snapshot: ClusterReader,
  release: ReleaseKey,
  { except, now, targets }: PlanOptions,
): Promise<{ readonly plan: ReleasePlan; readonly found: PlannedObjects }> {
  const { stored, records } = await listRecords(snapshot, release);
  const plan = await planRelease(stored, release, except, now);
  if (plan.kind === 'uninstall')
    return { plan, found: { records, objects: await listObjects(snapshot, plan.steps, release) } };
  const found = { records: [], objects: [] };
  if (plan.kind !== 'absent') return { plan, found };
  const why = describeUnrecorded(release, targets) ?? (await findOwned(snapshot, release));
  return { plan: why === undefined ? plan : { kind: 'unrecorded', why }, found };
}

async function findOwned(snapshot: ClusterReader, release: ReleaseKey): Promise<string | undefined> {
  const where = { namespace: release.namespace, labelSelector: ownedSelector(release) };
  for (const kind of SEARCHED) {
    const why = describeUnrecorded(release, [{ kind, objects: await snapshot.list({ kind, ...where }) }]);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Helm's records of a release: in Secrets or, if no Secret exists, in ConfigMaps. */
async function listRecords(
  snapshot: ClusterReader,
  { name, namespace }: ReleaseKey,
): Promise<{ readonly stored: readonly Stored[]; readonly records: readonly ObjectOfRelease[] }> {
  for (const driver of DRIVERS) {
    const kind = STORAGE[driver];
    const all = await snapshot.list({ kind, namespace, labelSelector: storageSelector(name) });
    const stored = all.flatMap((object) => readStored(object, driver, name) ?? []);
    if (stored.length > 0) return { stored, records: all.map((object) => ({ kind, object })) };
  }
  return { stored: [], records: [] };
}

async function listObjects(
  snapshot: ClusterReader,
  { removals }: UninstallSteps,
  release: ReleaseKey,
): Promise<PlannedObjects['objects']> {
  const found: PlannedObjects['objects'][number][] = [];
  for (const one of removals) {
    const kind = findKind(snapshot, one);
    if (kind === undefined) continue;
    const where = kind.namespaced ? { namespace: one.namespace || release.namespace } : {};
    const all = await snapshot.list({ kind: metadataOf(kind) as Kind, ...where });
    const object = all.find(({ metadata }) => metadata.name === one.name);
    if (object !== undefined) found.push({ kind, object, belonging: computeBelonging(object, release) });
  }
  return found;
}

function findKind({ served }: ClusterReader, { apiVersion, kind }: ManifestObject): Kind | undefined {
  const gv = parseApiVersion(apiVersion);
  const same = served.filter((one) => one.group === gv?.group && one.kind === kind);
  return same.find(({ version }) => version === gv?.version) ?? same[0];
}
