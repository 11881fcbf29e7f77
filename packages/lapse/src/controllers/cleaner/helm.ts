// Uninstalls a Helm release with the rights of the actor, in the steps of packages/lapse/src/helm. Every step is
// idempotent. Helm's records are deleted last, so that an interrupted uninstall is found and finished.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, plus } from '@lapse/base/instant';
import { parseApiVersion } from '@lapse/kube/api/object';
import { Cleaner } from '#api/cleaner';
import type { ManifestObject } from '#helm/manifest';
import { buildUninstalling, UNINSTALLING } from '#helm/markUninstalling';
import { openHistory, type Stored } from '#helm/storage';
import { planUninstall, type UninstallPlan, type UninstallSteps } from '#helm/uninstall';
import { deleteObject, patchUnchanged, type Read } from './authorizedClient.ts';
import { CONTENDED, type RemovalOptions, removeAll, type Stop, stopped } from './helmRemoval.ts';
import { compareWithRecord, findNewer, type ReleaseKey, readRecorded, STORAGE } from './helmStorage.ts';

/** A Cleaner that is part of its own release is not deleted with the release but as the last step. */
const isSelf = (object: ManifestObject, release: ReleaseKey, self: string): boolean =>
  object.kind === Cleaner.kind &&
  parseApiVersion(object.apiVersion)?.group === Cleaner.group &&
  object.name === self &&
  (object.namespace || release.namespace) === release.namespace;

export async function planRelease(
  storage: readonly Stored[],
  release: ReleaseKey,
  self: string,
  now: Instant,
): Promise<UninstallPlan> {
  if (storage.length === 0) return { kind: 'absent' };
  return planUninstall(await openHistory(storage, release), now, (object) => isSelf(object, release, self));
}

export type Uninstalled =
  /**
   * `gone`: objects that no longer exist, regardless of who deleted them. Undefined: the records were already
   * deleted.
   */
  | {
      readonly kind: 'done';
      readonly gone?: number;
      readonly kept: readonly string[];
      readonly left: readonly string[];
    }
  /**
   * Some objects are left, and therefore the records too. `unmarked`: why the newest record does not say
   * `uninstalling`, if so.
   */
  | { readonly kind: 'incomplete'; readonly left: readonly string[]; readonly unmarked?: string }
  | { readonly kind: 'busy'; readonly status: string; readonly until: Instant }
  | { readonly kind: 'failed'; readonly why: string }
  | Stop;

export interface UninstallOptions extends RemovalOptions {
  readonly self: string;
  /** Purge the records even if objects are left. */
  readonly purgeIncomplete: boolean;
  /** Notes that the decision can no longer be discarded, if anything was deleted or a hook has run. */
  readonly begin: () => Promise<'begun' | 'not begun' | 'stop'>;
  /** Runs the hooks of an event. Returns undefined when they are done. */
  readonly runHooks: (
    event: 'pre-delete' | 'post-delete',
    steps: UninstallSteps,
  ) => Promise<Uninstalled | undefined>;
}

export async function uninstall(options: UninstallOptions): Promise<Uninstalled> {
  const { authorized, record, now, self } = options;
  const release = { name: record.release, namespace: authorized.namespace };
  const ours = await readOurs(options);
  if ('kind' in ours) return ours;
  const plan = await planRelease(ours, release, self, now);
  switch (plan.kind) {
    case 'absent':
      return { kind: 'done', kept: [], left: [] };
    case 'busy':
      return plan;
    case 'corrupt':
      return { kind: 'failed', why: plan.why };
    case 'uninstall':
      return follow(plan.steps, release, options);
    default:
      return assertNever(plan);
  }
}

async function follow(
  steps: UninstallSteps,
  release: ReleaseKey,
  options: UninstallOptions,
): Promise<Uninstalled> {
  if (!options.isWanted()) return { kind: 'unwanted' };
  const before = await options.runHooks('pre-delete', steps);
  if (before !== undefined) return before;
  const { gone, kept, left, problems, stop } = await removeAll(steps, release, options);
  if (stop !== undefined) return stop;
  if (problems.length > 0) return { kind: 'failed', why: [...problems, ...left].slice(0, 5).join('; ') };
  if (left.length > 0 && !options.purgeIncomplete) return leaveIncomplete(left, options);
  const after = await options.runHooks('post-delete', steps);
  if (after !== undefined) return after;
  const purged = await purge(steps, options);
  return purged ?? { kind: 'done', gone, kept, left };
}

const UNTOUCHED = 'nothing was deleted';

/**
 * Marks the newest record so that Helm can finish the uninstall. A release of which nothing was deleted stays
 * deployed.
 */
async function leaveIncomplete(left: readonly string[], options: UninstallOptions): Promise<Uninstalled> {
  const begun = await options.begin();
  if (begun === 'stop') return stopped(options);
  if (begun === 'not begun') return { kind: 'incomplete', left, unmarked: UNTOUCHED };
  const { authorized, record, now } = options;
  const read = await readOurs(options);
  if ('kind' in read) return read;
  const newest = read.find(({ revision }) => revision === record.revision);
  if (newest === undefined || newest.status === UNINSTALLING) return { kind: 'incomplete', left };
  const { driver, name } = newest;
  const refusal = await options.refusalTo('patch', STORAGE[driver], {
    namespace: authorized.namespace,
    name,
  });
  const patch = refusal === undefined ? await buildUninstalling(newest, now) : undefined;
  if (patch === undefined) return { kind: 'incomplete', left, unmarked: refusal ?? 'it cannot be read' };
  const answer = await patchUnchanged(authorized, STORAGE[driver], newest, patch);
  switch (answer.kind) {
    case 'patched':
      return { kind: 'incomplete', left };
    case 'changed':
      return { kind: 'waiting', until: plus(now, CONTENDED), why: 'contended' };
    case 'refused':
      return { kind: 'incomplete', left, unmarked: answer.why };
    default:
      return assertNever(answer);
  }
}

/** The recorded revisions that Helm still stores, or why the release must not be touched. */
async function readOurs({ authorized, record }: UninstallOptions): Promise<Stored[] | Uninstalled> {
  const read = await readRecorded(authorized, record);
  if (read.kind !== 'read') return unreadable(read);
  const { namespace } = authorized;
  const stored = new Set(read.value.map(({ uid }) => uid));
  for (const { driver, name, uid } of record.storage)
    if (!stored.has(uid)) authorized.observe(STORAGE[driver], { namespace, name }, undefined);
  const ours = compareWithRecord(read.value, record);
  return typeof ours === 'string' ? { kind: 'changed', why: ours } : ours;
}

/** Deletes records oldest first, by uid, and stops when a new revision appears. */
async function purge(steps: UninstallSteps, options: UninstallOptions): Promise<Uninstalled | undefined> {
  const { authorized, record } = options;
  const ours = await readOurs(options);
  if ('kind' in ours) return ours;
  for (const ref of steps.purge) {
    const kind = STORAGE[ref.driver];
    const refusal = await options.refusalTo('delete', kind, {
      namespace: authorized.namespace,
      name: ref.name,
    });
    if (refusal !== undefined) return { kind: 'failed', why: refusal };
    const newer = ref === steps.purge[0] ? undefined : await findNewer(authorized, record);
    if (newer !== undefined && newer.kind !== 'read') return unreadable(newer);
    if (newer?.value !== undefined) return { kind: 'changed', why: newer.value };
    const held = options.heldUntil(ref.uid);
    if (held !== undefined) return { kind: 'waiting', until: held, why: 'budget' };
    if (!options.isWanted()) return { kind: 'unwanted' };
    const answer = await deleteObject(authorized, kind, ref, 'release record');
    if (answer.kind === 'forbidden' || answer.kind === 'refused') return { kind: 'failed', why: answer.why };
    if (answer.kind === 'deleted' && (await options.onDeleted()) === 'stop') return stopped(options);
  }
  return undefined;
}

const unreadable = (read: Exclude<Read<unknown>, { kind: 'read' }>): Uninstalled => ({
  kind: 'failed',
  why: read.kind === 'forbidden' ? read.why : 'Secrets are not served',
});
