// Plans the uninstall of a release: which objects are deleted, in which order, which are kept, and which Helm records are
// purged at the end. Uses only the stored history; whether a live object belongs to the release is checked just before
// its deletion.

import { type Instant, isDue, minus, minutes, plus } from '@lapse/base/instant';
import { parseApiVersion } from '@lapse/kube/api/object';
import { hooksFor } from './hooks.ts';
import { type Manifest, type ManifestObject, parseManifest } from './manifest.ts';
import { inUninstallOrder } from './order.ts';
import type { ReleaseKey } from './ownership.ts';
import { type Hook, isComplete, type Release } from './release.ts';
import { type Driver, openHistory, type Revision, type Stored } from './storage.ts';

/** A Helm record that is purged after all objects are deleted. */
export interface StorageRef {
  readonly driver: Driver;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
}

export interface UninstallSteps {
  /** The newest revision, which is uninstalled. */
  readonly revision: number;
  readonly preDelete: readonly Hook[];
  readonly removals: readonly ManifestObject[];
  readonly kept: readonly ManifestObject[];
  readonly postDelete: readonly Hook[];
  /** Oldest first: if the purge is interrupted, the newest record still exists. */
  readonly purge: readonly StorageRef[];
}

export type UninstallPlan =
  /** The release does not exist. */
  | { readonly kind: 'absent' }
  /** Another client seems to run an install, upgrade or rollback. */
  | { readonly kind: 'busy'; readonly status: string; readonly until: Instant }
  | { readonly kind: 'corrupt'; readonly why: string }
  | { readonly kind: 'uninstall'; readonly steps: UninstallSteps };

/** An operation that is pending for longer than this is considered abandoned. */
const ABANDONED_AFTER = minutes(10);

/** An object in the namespace of the release that is not deleted with it: a Cleaner that is part of its own release. */
export interface ExceptedObject {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
}

/** The plan for the stored revisions of a release. */
export async function planRelease(
  storage: readonly Stored[],
  release: ReleaseKey,
  except: ExceptedObject,
  now: Instant,
): Promise<UninstallPlan> {
  if (storage.length === 0) return { kind: 'absent' };
  const history = await openHistory(storage, release);
  return planUninstall(
    history,
    now,
    ({ apiVersion, kind, namespace, name }) =>
      kind === except.kind &&
      parseApiVersion(apiVersion)?.group === except.group &&
      name === except.name &&
      (namespace || release.namespace) === release.namespace,
  );
}

/** `except`: objects that are not deleted here. */
export function planUninstall(
  history: readonly Revision[],
  now: Instant,
  except: (object: ManifestObject) => boolean = () => false,
): UninstallPlan {
  const ascending = [...history].sort((a, b) => a.revision - b.revision || (a.driver < b.driver ? -1 : 1));
  const newest = ascending.at(-1);
  if (newest === undefined) return { kind: 'absent' };
  const { decoded } = newest;
  if (decoded.kind === 'corrupt')
    return { kind: 'corrupt', why: `revision ${newest.revision}: ${decoded.why}` };
  const { release } = decoded;
  const busyUntil = pendingUntil(release, now);
  if (busyUntil !== undefined) return { kind: 'busy', status: release.status, until: busyUntil };
  const purge = ascending.map(({ driver, name, uid, revision }) => ({ driver, name, uid, revision }));
  if (release.status === 'uninstalled')
    return { kind: 'uninstall', steps: { ...NOTHING, revision: release.revision, purge } };
  const objects = objectsOf(newest, release, ascending);
  if (!Array.isArray(objects)) return { kind: 'corrupt', why: objects };
  const selected = inUninstallOrder(objects.filter((object) => !except(object)));
  return {
    kind: 'uninstall',
    steps: {
      revision: release.revision,
      preDelete: hooksFor(release, 'pre-delete'),
      removals: selected.filter(({ keep }) => !keep),
      kept: selected.filter(({ keep }) => keep),
      postDelete: hooksFor(release, 'post-delete'),
      purge,
    },
  };
}

const NOTHING = { preDelete: [], removals: [], kept: [], postDelete: [] };

/** When a pending operation counts as abandoned; undefined if it already does, or starts in the far future. */
function pendingUntil({ status, lastDeployed }: Release, now: Instant): Instant | undefined {
  if (!status.startsWith('pending-') || lastDeployed === undefined) return undefined;
  const until = plus(lastDeployed, ABANDONED_AFTER);
  return isDue(until, now) || minus(lastDeployed, now) > ABANDONED_AFTER ? undefined : until;
}

/**
 * The objects of the newest revision. If that revision is incomplete (a failed upgrade), also the objects of the last
 * complete one: Helm itself would leave them behind. For an object in both, the newest revision decides.
 */
function objectsOf(
  newest: Revision,
  { status, namespace }: Release,
  history: readonly Revision[],
): ManifestObject[] | string {
  const deployed = isComplete(status) ? undefined : lastDeployed(history, newest.revision);
  const objects = new Map<string, ManifestObject>();
  for (const revision of deployed === undefined ? [newest] : [newest, deployed]) {
    const manifest = manifestOf(revision);
    if (manifest.kind === 'corrupt') return `revision ${revision.revision}: ${manifest.why}`;
    for (const object of manifest.objects) {
      const id = idOf(object, namespace);
      if (!objects.has(id)) objects.set(id, object);
    }
  }
  return [...objects.values()];
}

function manifestOf({ decoded, manifest }: Revision): Manifest {
  if (decoded.kind === 'corrupt') return decoded;
  return manifest ?? parseManifest(decoded.release.manifest);
}

/** The last complete revision, or an unreadable one that may be complete. */
function lastDeployed(history: readonly Revision[], before: number): Revision | undefined {
  return history.toReversed().find(({ decoded, revision }) => {
    if (revision >= before) return false;
    return decoded.kind === 'release' ? decoded.release.status === 'deployed' : decoded.isOverLimit === true;
  });
}

/** The same object in two API versions has one id. */
const idOf = ({ apiVersion, kind, namespace, name }: ManifestObject, home: string): string => {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return `${group}/${kind}/${namespace || home}/${name}`;
};
