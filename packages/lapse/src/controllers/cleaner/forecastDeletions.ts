// Finds what a Cleaner deletes: the objects of its targets, and those of its Helm release including Helm's records.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import { type Kind, keyOf, metadataOf } from '@lapse/kube/api/kind';
import { ConfigMap, Secret } from '@lapse/kube/api/kinds/builtin';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { DeletionRecord } from '#api/cleaner';
import type { ManifestObject } from '#helm/manifest';
import { readStored, type Stored, storageSelector } from '#helm/storage';
import type { UninstallSteps } from '#helm/uninstall';
import { nameOf, type ObjectName, type Snapshot } from '../forecaster.ts';
import { findRefusal, subjectOf } from './forecastRights.ts';
import type { Around } from './forecastTargets.ts';
import { planRelease } from './helm.ts';
import { computeBelonging, NOT_OWNED } from './helmRemoval.ts';
import type { ReleaseKey } from './helmStorage.ts';
import { findUnrecorded } from './helmUnrecorded.ts';
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
  const release = { name, namespace };
  const { stored, records } = await readRecords(snapshot, release);
  const plan = await planRelease(stored, release, self, at);
  switch (plan.kind) {
    case 'absent': {
      const because = await findUnrecorded(release, found, (kind, labelSelector) =>
        snapshot.list({ kind, namespace, labelSelector }),
      );
      return { ...toDelete, ...(because === undefined ? {} : { problem: { because } }) };
    }
    case 'busy':
      return {
        ...toDelete,
        problem: { because: `the release ${name} is ${plan.status}`, until: plan.until },
      };
    case 'corrupt':
      return { ...toDelete, problem: { because: `the release ${name} cannot be read: ${plan.why}` } };
    case 'uninstall': {
      const { owned, left } = await releaseObjects(around, plan.steps, release);
      return {
        objects: [...toDelete.objects, ...owned],
        records,
        left,
        parts: { ...toDelete.parts, release: { name, steps: plan.steps } },
      };
    }
    default:
      return assertNever(plan);
  }
}

/** Helm's records of a release: in Secrets or, if no Secret exists, in ConfigMaps. */
async function readRecords(
  snapshot: Snapshot,
  { name, namespace }: ReleaseKey,
): Promise<{ stored: readonly Stored[]; records: readonly ObjectToDelete[] }> {
  for (const [driver, kind] of [
    ['secret', Secret as Kind],
    ['configmap', ConfigMap as Kind],
  ] as const) {
    const all = await snapshot.list({ kind, namespace, labelSelector: storageSelector(name) });
    const stored = all.flatMap((object) => readStored(object, driver, name) ?? []);
    if (stored.length === 0) continue;
    const why = `a record of the release ${name}`;
    return { stored, records: all.map((object) => ({ object: nameOf(kind, object), why })) };
  }
  return { stored: [], records: [] };
}

async function releaseObjects(
  around: Around,
  { removals }: UninstallSteps,
  release: ReleaseKey,
): Promise<{ readonly owned: readonly ObjectToDelete[]; readonly left: readonly Left[] }> {
  const { snapshot } = around.forecastContext;
  const subject = subjectOf(around);
  const owned: ObjectToDelete[] = [];
  const left: Left[] = [];
  for (const object of removals) {
    const kind = findKind(snapshot, object);
    const live = kind && (await findLive(snapshot, kind, object, release));
    if (kind === undefined || live === undefined) continue;
    const found = { object: nameOf(kind, live), why: `part of the release ${release.name}` };
    const belonging = computeBelonging(live, release);
    if (belonging === 'kept') left.push({ ...found, as: 'kept', why: 'helm.sh/resource-policy: keep' });
    else if (belonging === 'notOwned') left.push({ ...found, as: 'notOwned', why: NOT_OWNED });
    if (belonging !== 'owned' || live.metadata.deletionTimestamp !== undefined) continue;
    const refusal = await findRefusal(snapshot, subject, kind, keyOf(live));
    if (refusal === undefined) owned.push(found);
    else left.push({ ...found, as: 'forbidden', why: refusal });
  }
  return { owned, left };
}

function findKind({ served }: Snapshot, { apiVersion, kind }: ManifestObject): Kind | undefined {
  const gv = parseApiVersion(apiVersion);
  const same = served.filter((one) => one.group === gv?.group && one.kind === kind);
  return same.find(({ version }) => version === gv?.version) ?? same[0];
}

async function findLive(
  snapshot: Snapshot,
  kind: Kind,
  object: ManifestObject,
  release: ReleaseKey,
): Promise<KubeObject | undefined> {
  const where = kind.namespaced ? { namespace: object.namespace || release.namespace } : {};
  const all = await snapshot.list({ kind: metadataOf(kind) as Kind, ...where });
  return all.find(({ metadata }) => metadata.name === object.name);
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
