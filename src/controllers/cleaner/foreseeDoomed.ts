// What goes when a Cleaner acts: the objects of its targets, and those of its Helm release with Helm's own records.

import { type Kind, metadataOf } from '#api/kind';
import { ConfigMap, Secret } from '#api/kinds/builtin';
import type { DeletionRecord } from '#api/kinds/cleaner';
import { type KubeObject, parseApiVersion } from '#api/object';
import { assertNever } from '#base/assertNever';
import type { Instant } from '#base/instant';
import type { ManifestObject } from '#helm/manifest';
import { readStored, type Stored, storageSelector } from '#helm/storage';
import type { UninstallSteps } from '#helm/uninstall';
import { nameOf, type ObjectName, type Snapshot } from '../foresight.ts';
import type { Around } from './foreseeTargets.ts';
import { planRelease } from './helm.ts';
import { computeForeign, computeLeft } from './helmRemoval.ts';
import type { ReleaseKey } from './helmStorage.ts';
import { findUnrecorded } from './helmUnrecorded.ts';
import { type DecisionParts, recordTargets } from './record.ts';
import type { Found } from './snapshot.ts';
import type { Meaning } from './spec.ts';

export interface Doomed {
  readonly object: ObjectName;
  readonly why: string;
}

export interface DoomedObjects {
  readonly objects: readonly Doomed[];
  readonly parts: DecisionParts;
  /** The release cannot be uninstalled. */
  readonly problem?: { readonly because: string; readonly until?: Instant };
}

/** At the time of the decision. */
export async function findDoomed(
  around: Around,
  meaning: Meaning,
  found: readonly Found[],
  at: Instant,
): Promise<DoomedObjects> {
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
  if (meaning.release === undefined) return { objects, parts: { targets } };
  return addRelease(around, { objects, parts: { targets } }, { name: meaning.release, found }, at);
}

async function addRelease(
  around: Around,
  { objects, parts }: DoomedObjects,
  { name, found }: { readonly name: string; readonly found: readonly Found[] },
  at: Instant,
): Promise<DoomedObjects> {
  const { snapshot } = around.outlook;
  const { namespace = '', name: self = '' } = around.cleaner.metadata;
  const release = { name, namespace };
  const { stored, records } = await readRecords(snapshot, release);
  const plan = await planRelease(stored, release, self, at);
  switch (plan.kind) {
    case 'absent': {
      const because = await findUnrecorded(release, found, (kind, labelSelector) =>
        snapshot.list({ kind, namespace, labelSelector }),
      );
      return { objects, parts, ...(because === undefined ? {} : { problem: { because } }) };
    }
    case 'busy':
      return {
        objects,
        parts,
        problem: { because: `the release ${name} is ${plan.status}`, until: plan.until },
      };
    case 'corrupt':
      return { objects, parts, problem: { because: `the release ${name} cannot be read: ${plan.why}` } };
    case 'uninstall': {
      const owned = await releaseObjects(around, plan.steps, release);
      return {
        objects: [...objects, ...owned, ...records],
        parts: { ...parts, release: { name, steps: plan.steps } },
      };
    }
    default:
      return assertNever(plan);
  }
}

/** Helm's records of a release: in Secrets, or, where there are none, in ConfigMaps. */
async function readRecords(
  snapshot: Snapshot,
  { name, namespace }: ReleaseKey,
): Promise<{ stored: readonly Stored[]; records: readonly Doomed[] }> {
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
  { outlook, rules }: Around,
  { removals }: UninstallSteps,
  release: ReleaseKey,
): Promise<Doomed[]> {
  const doomed: Doomed[] = [];
  for (const object of removals) {
    const kind = findKind(outlook.snapshot, object);
    if (kind === undefined) continue;
    if (!rules.helmAllowForeign && computeForeign(object, kind, release) !== undefined) continue;
    const live = await findLive(outlook.snapshot, kind, object, release);
    if (live === undefined || live.metadata.deletionTimestamp !== undefined) continue;
    if (computeLeft(live, release) === undefined)
      doomed.push({ object: nameOf(kind, live), why: `part of the release ${release.name}` });
  }
  return doomed;
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

/** What a decision that is carried out has written down. */
export async function recordedDoomed(
  { outlook, cleaner }: Around,
  record: DeletionRecord,
): Promise<Doomed[]> {
  const { served } = outlook.snapshot;
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
