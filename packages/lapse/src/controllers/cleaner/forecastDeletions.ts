// Finds what a Cleaner deletes: the objects of its targets, and those of its Helm release including Helm's records.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import { keyOf } from '@lapse/kube/api/kind';
import { Cleaner, type DeletionRecord } from '#api/cleaner';
import { type PlannedObjects, planFromSnapshot } from '#helm/readPlan';
import { NOT_OWNED } from '#helm/removal';
import { nameOf, type ObjectName } from '../forecaster.ts';
import { findRefusal, subjectOf } from './forecastRights.ts';
import type { Around } from './forecastTargets.ts';
import { type DecisionParts, recordTargets } from './record.ts';
import type { Found } from './snapshot.ts';
import type { Meaning } from './spec.ts';

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
  readonly problem?: { readonly because: string; readonly until?: Instant };
}

/** Evaluated at the time of the decision. */
export async function findObjectsToDelete(
  around: Around,
  meaning: Meaning,
  found: readonly Found[],
  at: Instant,
): Promise<ObjectsToDelete> {
  const targets = recordTargets(found);
  const uids = new Set(targets.map(({ uid }) => uid));
  const objects = found.flatMap(({ target, kind, objects: all }) =>
    target.delete
      ? all
          .filter(
            ({ metadata }) => uids.delete(metadata.uid ?? '') && metadata.deletionTimestamp === undefined,
          )
          .map((object) => ({ object: nameOf(kind, object), why: `target ${target.name}` }))
      : [],
  );
  const toDelete = { objects, records: [], left: [], parts: { targets } };
  if (meaning.release === undefined) return toDelete;
  return addRelease(around, toDelete, { name: meaning.release, found }, at);
}

async function addRelease(
  around: Around,
  toDelete: ObjectsToDelete,
  { name, found }: { readonly name: string; readonly found: readonly Found[] },
  at: Instant,
): Promise<ObjectsToDelete> {
  const { snapshot } = around.forecastContext;
  const { namespace = '', name: self = '' } = around.cleaner.metadata;
  const options = { except: { ...Cleaner, name: self }, now: at, targets: found };
  const { plan, found: ofRelease } = await planFromSnapshot(snapshot, { name, namespace }, options);
  switch (plan.kind) {
    case 'absent':
      return toDelete;
    case 'forbidden':
    case 'unrecorded':
      return { ...toDelete, problem: { because: plan.why } };
    case 'tooMany':
      return { ...toDelete, problem: { because: `the release ${name} has too many revisions` } };
    case 'busy':
      return {
        ...toDelete,
        problem: { because: `the release ${name} is ${plan.status}`, until: plan.until },
      };
    case 'corrupt':
      return { ...toDelete, problem: { because: `the release ${name} cannot be read: ${plan.why}` } };
    case 'uninstall': {
      const { owned, left } = await sortObjects(around, ofRelease, name);
      const why = `a record of the release ${name}`;
      return {
        objects: [...toDelete.objects, ...owned],
        records: ofRelease.records.map(({ kind, object }) => ({ object: nameOf(kind, object), why })),
        left,
        parts: { ...toDelete.parts, release: { name, steps: plan.steps } },
      };
    }
    default:
      return assertNever(plan);
  }
}

/** The objects of the release that are deleted, and those that are not. */
async function sortObjects(
  around: Around,
  { objects }: PlannedObjects,
  release: string,
): Promise<{ readonly owned: readonly ObjectToDelete[]; readonly left: readonly Left[] }> {
  const subject = subjectOf(around);
  const owned: ObjectToDelete[] = [];
  const left: Left[] = [];
  for (const { kind, object, belonging } of objects) {
    const found = { object: nameOf(kind, object), why: `part of the release ${release}` };
    if (belonging === 'kept') left.push({ ...found, as: 'kept', why: 'helm.sh/resource-policy: keep' });
    else if (belonging === 'notOwned') left.push({ ...found, as: 'notOwned', why: NOT_OWNED });
    if (belonging !== 'owned' || object.metadata.deletionTimestamp !== undefined) continue;
    const refusal = await findRefusal(around.forecastContext.snapshot, subject, kind, keyOf(object));
    if (refusal === undefined) owned.push(found);
    else left.push({ ...found, as: 'forbidden', why: refusal });
  }
  return { owned, left };
}

/** The objects in the record of a decision that is being carried out. */
export async function recordedObjectsToDelete(
  { forecastContext, cleaner }: Around,
  record: DeletionRecord,
): Promise<ObjectToDelete[]> {
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
