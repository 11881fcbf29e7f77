// Finds what a Cleaner deletes according to a snapshot: the objects of its targets, with the same selection as reconciles
// use on their caches, and those of its Helm release including Helm's records.

import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf, metadataOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { Cleaner, type DeletionRecord } from '#api/cleaner';
import { accountSubject, describeMissing, type Subject } from '#authors/accessReview';
import { AUTHOR_ANNOTATION, claimedAuthor } from '#authors/authorSeal';
import { isGranted } from '#authors/rbac';
import { type PlannedObjects, planFromSnapshot } from '#helm/readPlan';
import { NOT_OWNED } from '#helm/removal';
import { type ForecastContext, nameOf, type ObjectName, type Snapshot, Unreadable } from '../forecaster.ts';
import { computeReleaseObstacle, type Obstacle, partsOf } from './decide.ts';
import { type Resolved, sortKinds } from './kinds.ts';
import type { LimitRules } from './limit.ts';
import type { DecisionParts } from './record.ts';
import { accountOf } from './rights.ts';
import { isDecisive, type Meaning } from './spec.ts';
import { type Found, fromCache, MOST_BOUND, projectionOf } from './targets.ts';

export interface CleanerRules {
  readonly bindSecretData: boolean;
  readonly helmPurgeIncomplete: boolean;
  readonly requireAuthor: boolean;
  readonly defaultAccount?: string;
  readonly limits: LimitRules;
}

/** The forecast of one Cleaner. */
export interface Around {
  readonly forecastContext: ForecastContext;
  readonly rules: CleanerRules;
  readonly cleaner: Cleaner;
}

/** The objects of targets, or why they are unknown. */
export async function findTargets(
  { forecastContext: { snapshot }, rules, cleaner }: Around,
  { targets }: Meaning,
): Promise<readonly Found[] | string> {
  const { resolved, unserved, refused } = sortKinds(snapshot.served, targets);
  const [wrong] = refused;
  if (wrong !== undefined) return `target ${wrong.target.name}: ${wrong.why}`;
  const missing = unserved.find(({ included }) => included);
  if (missing !== undefined) {
    const { kind, apiGroup = '' } = missing.reference;
    return `the server does not serve ${kind}.${apiGroup} (${missing.name})`;
  }
  const namespace = cleaner.metadata.namespace ?? '';
  const found: Found[] = [];
  for (const one of resolved) {
    if (!isDecisive(one.target)) continue;
    const objects = await readTarget(snapshot, one, namespace, rules.bindSecretData);
    const reader = {
      get: ({ name }: { readonly name: string }) => objects.find((object) => keyOf(object).name === name),
      list: () => objects,
    };
    found.push(fromCache(one, { reader }, namespace, MOST_BOUND));
  }
  return found;
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

export interface ObjectToDelete {
  readonly object: ObjectName;
  readonly why: string;
}

/** An object of the release that is not deleted with it. */
export interface Left extends ObjectToDelete {
  /** `kept`: the chart sets the resource policy. `forbidden`: the actor may not delete it. */
  readonly as: 'kept' | 'notOwned' | 'forbidden';
}

export interface ObjectsToDelete {
  readonly objects: readonly ObjectToDelete[];
  /** Helm's records of the release. */
  readonly records: readonly ObjectToDelete[];
  readonly left: readonly Left[];
  readonly parts: DecisionParts;
  /** Set if the release cannot be uninstalled. */
  readonly obstacle?: Obstacle;
}

/** Evaluated at the time of the decision. */
export async function findObjectsToDelete(
  around: Around,
  meaning: Meaning,
  found: readonly Found[],
  at: Instant,
): Promise<ObjectsToDelete> {
  const objects = targetsToDelete(found);
  const { release: name } = meaning;
  if (name === undefined)
    return { objects, records: [], left: [], parts: partsOf(meaning, found, undefined) };
  const { namespace = '', name: self = '' } = around.cleaner.metadata;
  const { plan, found: ofRelease } = await planFromSnapshot(
    around.forecastContext.snapshot,
    { name, namespace },
    { except: { ...Cleaner, name: self }, now: at, targets: found },
  );
  const { owned, left } = await sortObjects(around, ofRelease, name);
  const obstacle = computeReleaseObstacle(name, plan);
  const why = `a record of the release ${name}`;
  return {
    objects: [...objects, ...owned],
    records: ofRelease.records.map(({ kind, object }) => ({ object: nameOf(kind, object), why })),
    left,
    parts: partsOf(meaning, found, plan),
    ...(obstacle === undefined ? {} : { obstacle }),
  };
}

/** The objects of targets, each once. */
function targetsToDelete(found: readonly Found[]): ObjectToDelete[] {
  const seen = new Set<string>(['']);
  return found
    .filter(({ target }) => target.delete)
    .flatMap(({ target, kind, objects }) =>
      objects
        .filter(({ metadata: { uid = '', deletionTimestamp } }) => {
          const isNew = deletionTimestamp === undefined && !seen.has(uid);
          if (isNew) seen.add(uid);
          return isNew;
        })
        .map((object) => ({ object: nameOf(kind, object), why: `target ${target.name}` })),
    );
}

/** The objects of the release that are deleted, and those that are not. */
async function sortObjects(
  around: Around,
  { objects }: PlannedObjects,
  release: string,
): Promise<{ readonly owned: readonly ObjectToDelete[]; readonly left: readonly Left[] }> {
  const owned: ObjectToDelete[] = [];
  const left: Left[] = [];
  for (const { kind, object, belonging } of objects) {
    const found = { object: nameOf(kind, object), why: `part of the release ${release}` };
    if (belonging === 'kept') left.push({ ...found, as: 'kept', why: 'helm.sh/resource-policy: keep' });
    else if (belonging === 'notOwned') left.push({ ...found, as: 'notOwned', why: NOT_OWNED });
    if (belonging !== 'owned' || object.metadata.deletionTimestamp !== undefined) continue;
    const refusal = await findRefusal(around, kind, object);
    if (refusal === undefined) owned.push(found);
    else left.push({ ...found, as: 'forbidden', why: refusal });
  }
  return { owned, left };
}

/** Returns why the actor may not delete the object, or undefined, also where its rights are unknown. */
async function findRefusal(around: Around, kind: Kind, object: KubeObject): Promise<string | undefined> {
  const subject = subjectOf(around);
  if (subject === undefined) return undefined;
  const { group, resource } = kind;
  const { namespace, name } = keyOf(object);
  const need = { verb: 'delete', group, resource, ...(namespace ? { namespace } : {}), name };
  try {
    const isAllowed = await isGranted(around.forecastContext.snapshot, subject, need);
    return isAllowed ? undefined : describeMissing(subject, [need]);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

/** The subject that acts for the Cleaner. Undefined for Lapse itself, whose account a snapshot does not contain. */
function subjectOf({ forecastContext, rules, cleaner }: Around): Subject | undefined {
  const { namespace = '', annotations } = cleaner.metadata;
  const name = accountOf(cleaner, rules.defaultAccount);
  if (name) return accountSubject({ namespace, name });
  return forecastContext.actAs === 'author'
    ? claimedAuthor(annotations?.[AUTHOR_ANNOTATION] ?? '')
    : undefined;
}

/** The objects in the record of a decision that is being carried out. */
export function recordedObjectsToDelete(
  { forecastContext, cleaner }: Around,
  record: DeletionRecord,
): ObjectToDelete[] {
  const { served } = forecastContext.snapshot;
  const { namespace = '' } = cleaner.metadata;
  return record.targets.flatMap(({ group, version, resource, name, uid }) => {
    const kind = served.find(
      (one) => one.group === group && one.version === version && one.resource === resource,
    );
    if (kind === undefined) return [];
    const object = nameOf(kind, { apiVersion: '', kind: '', metadata: { namespace, name, uid } });
    return [{ object, why: 'recorded target' }];
  });
}
