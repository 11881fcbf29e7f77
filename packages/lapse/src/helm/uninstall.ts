// What uninstalling a release means, as data: which objects go, in which order, which stay, and which records of Helm's
// are purged at the end. Worked out from the stored history alone; whether a live object really belongs to the release
// is asked when it is about to be deleted.

import { type Instant, isDue, minus, minutes, plus } from '@lapse/base/instant';
import { hooksFor } from './hooks.ts';
import { type Manifest, type ManifestObject, parseManifest } from './manifest.ts';
import { inUninstallOrder } from './order.ts';
import { type Hook, isComplete, type Release } from './release.ts';
import type { Driver, Revision } from './storage.ts';

/** A record of Helm's that is purged when everything else is gone. */
export interface StorageRef {
  readonly driver: Driver;
  readonly name: string;
  readonly uid: string;
  readonly revision: number;
}

export interface UninstallSteps {
  /** The newest revision: what is uninstalled. */
  readonly revision: number;
  readonly preDelete: readonly Hook[];
  readonly removals: readonly ManifestObject[];
  readonly kept: readonly ManifestObject[];
  readonly postDelete: readonly Hook[];
  /** Oldest first, so that whatever interrupts the purge, the newest can still be found. */
  readonly purge: readonly StorageRef[];
}

export type UninstallPlan =
  /** There is no such release: nothing to do. */
  | { readonly kind: 'absent' }
  /** Somebody else's install, upgrade or rollback seems to be under way. */
  | { readonly kind: 'busy'; readonly status: string; readonly until: Instant }
  | { readonly kind: 'corrupt'; readonly why: string }
  | { readonly kind: 'uninstall'; readonly steps: UninstallSteps };

/** An operation that has been pending for longer than this was left behind by somebody. */
const PENDING = minutes(10);

/** `except` are objects that are not removed with the rest: a Cleaner that is part of its own release. */
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
  const ours = inUninstallOrder(objects.filter((object) => !except(object)));
  return {
    kind: 'uninstall',
    steps: {
      revision: release.revision,
      preDelete: hooksFor(release, 'pre-delete'),
      removals: ours.filter(({ keep }) => !keep),
      kept: ours.filter(({ keep }) => keep),
      postDelete: hooksFor(release, 'post-delete'),
      purge,
    },
  };
}

const NOTHING = { preDelete: [], removals: [], kept: [], postDelete: [] };

/** A pending operation counts while it is young; a time in the far future is nobody's. */
function pendingUntil({ status, lastDeployed }: Release, now: Instant): Instant | undefined {
  if (!status.startsWith('pending-') || lastDeployed === undefined) return undefined;
  const until = plus(lastDeployed, PENDING);
  return isDue(until, now) || minus(lastDeployed, now) > PENDING ? undefined : until;
}

/**
 * The objects of the newest revision and, when that one never became complete (a failed upgrade), also those of the last
 * one that did: Helm itself would leave them behind. Of an object in both, the newest revision decides.
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

/** The last revision that became complete, or one that could not be read and may be it. */
function lastDeployed(history: readonly Revision[], before: number): Revision | undefined {
  return history.toReversed().find(({ decoded, revision }) => {
    if (revision >= before) return false;
    return decoded.kind === 'release' ? decoded.release.status === 'deployed' : decoded.isOverLimit === true;
  });
}

/** The same object in two API versions is one object. */
const idOf = ({ apiVersion, kind, namespace, name }: ManifestObject, home: string): string => {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return `${group}/${kind}/${namespace || home}/${name}`;
};
