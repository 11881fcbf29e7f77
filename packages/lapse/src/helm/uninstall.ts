// Uninstalls a Helm release with the rights of the actor, according to the plan of uninstallPlan.ts. Every step is
// idempotent. Helm's records are deleted last, so that an interrupted uninstall is found and finished.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, plus } from '@lapse/base/instant';
import type { Discovery } from '@lapse/kube/client/discovery';
import type { RecordedRelease } from '#api/cleaner';
import type { AuthorizedClient, Read } from '#authors/authorizedClient';
import type { RecordedDeletes } from '#deletion/recordedDeletes';
import { describeNotSaved } from '#deletion/trash';
import { buildUninstalling, UNINSTALLING } from './markUninstalling.ts';
import type { ReleaseKey } from './ownership.ts';
import { compareWithRecord, findNewer, readRecorded, STORAGE } from './readStorage.ts';
import { CONTENDED, removeObjects, type Stop, stopped } from './removal.ts';
import { type HookOptions, runHooks } from './runHooks.ts';
import type { Stored } from './storage.ts';
import { type ExceptedObject, planRelease, type StorageRef, type UninstallSteps } from './uninstallPlan.ts';

/** What a deletion of an uninstall deletes. */
export type ReleaseDeletion = 'release object' | 'release record' | 'hook';

/** Where the caller records the progress of an uninstall, so that it is continued after a restart. */
export interface UninstallProgress {
  readonly hooks: NonNullable<RecordedRelease['hooks']>;
  /** `stop`: the record is no longer current, nothing was noted, and no more may be deleted. */
  noteHooks(hooks: NonNullable<RecordedRelease['hooks']>): Promise<'go on' | 'stop'>;
  /** Notes that something was deleted, so the decision can no longer be discarded. */
  noteStart(): Promise<'go on' | 'stop'>;
  /** Whether something was deleted because of the decision. */
  hasBegun(): Promise<boolean>;
}

export interface UninstallRequest {
  readonly release: ReleaseKey;
  /** The revisions that the decision was made on. */
  readonly record: RecordedRelease;
  readonly client: AuthorizedClient;
  readonly deletes: Pick<RecordedDeletes<ReleaseDeletion>, 'delete' | 'send' | 'observe' | 'isWanted'>;
  readonly discovery: Discovery;
  readonly progress: UninstallProgress;
  readonly now: Instant;
  readonly except: ExceptedObject;
  /** Purge the records even if objects are left. */
  readonly purgeIncomplete: boolean;
  readonly hooks: HookOptions;
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

export async function uninstall(request: UninstallRequest): Promise<Uninstalled> {
  const { release, now, except } = request;
  const ours = await readOurs(request);
  if ('kind' in ours) return ours;
  const plan = await planRelease(ours, release, except, now);
  switch (plan.kind) {
    case 'absent':
      return { kind: 'done', kept: [], left: [] };
    case 'busy':
      return plan;
    case 'corrupt':
      return { kind: 'failed', why: plan.why };
    case 'uninstall':
      return follow(plan.steps, request);
    default:
      return assertNever(plan);
  }
}

async function follow(steps: UninstallSteps, request: UninstallRequest): Promise<Uninstalled> {
  if (!request.deletes.isWanted()) return { kind: 'unwanted' };
  const before = await runHooks('pre-delete', steps, request);
  if (before !== undefined) return before;
  const { gone, kept, left, problems, stop } = await removeObjects(steps, request);
  if (stop !== undefined) return stop;
  if (problems.length > 0) return { kind: 'failed', why: [...problems, ...left].slice(0, 5).join('; ') };
  if (left.length > 0 && !request.purgeIncomplete) return leaveIncomplete(left, request);
  const after = await runHooks('post-delete', steps, request);
  if (after !== undefined) return after;
  const stopOfPurge = await purge(steps, request);
  return stopOfPurge ?? { kind: 'done', gone, kept, left };
}

/**
 * Marks the newest record so that Helm can finish the uninstall. A release of which nothing was deleted stays
 * deployed. A hook that has run cannot be undone, like a deletion.
 */
async function leaveIncomplete(left: readonly string[], request: UninstallRequest): Promise<Uninstalled> {
  const { progress, record } = request;
  const hasRunHooks = (progress.hooks.preDelete ?? 0) > 0;
  if (!hasRunHooks && !(await progress.hasBegun()))
    return { kind: 'incomplete', left, unmarked: 'nothing was deleted' };
  if ((await progress.noteStart()) === 'stop') return stopped(request);
  const read = await readOurs(request);
  if ('kind' in read) return read;
  const newest = read.find(({ revision }) => revision === record.revision);
  if (newest === undefined || newest.status === UNINSTALLING) return { kind: 'incomplete', left };
  const marked = await mark(newest, request);
  switch (marked.kind) {
    case 'patched':
      return { kind: 'incomplete', left };
    case 'changed':
      return { kind: 'waiting', until: plus(request.now, CONTENDED), why: 'contended' };
    case 'refused':
      return { kind: 'incomplete', left, unmarked: marked.why };
    default:
      return assertNever(marked);
  }
}

async function mark(
  newest: Stored,
  { client, release, now }: UninstallRequest,
): ReturnType<AuthorizedClient['patchUnchanged']> {
  const kind = STORAGE[newest.driver];
  const { namespace } = release;
  const refusal = await client.refusalTo('patch', kind, { namespace, name: newest.name });
  if (refusal !== undefined) return { kind: 'refused', why: refusal };
  const patch = await buildUninstalling(newest, now);
  if (patch === undefined) return { kind: 'refused', why: 'it cannot be read' };
  return client.patchUnchanged(kind, { ...newest, namespace }, patch);
}

/** The recorded revisions that Helm still stores, or why the release must not be touched. */
async function readOurs({
  client,
  deletes,
  release,
  record,
}: UninstallRequest): Promise<Stored[] | Uninstalled> {
  const { namespace } = release;
  const read = await readRecorded(client, namespace, record);
  if (read.kind !== 'read') return unreadable(read);
  const stored = new Set(read.value.map(({ uid }) => uid));
  for (const { driver, name, uid } of record.storage)
    if (!stored.has(uid)) deletes.observe(STORAGE[driver], { namespace, name }, undefined);
  const ours = compareWithRecord(read.value, record);
  return typeof ours === 'string' ? { kind: 'changed', why: ours } : ours;
}

/** Deletes records oldest first, by uid, and stops when a new revision appears. */
async function purge(steps: UninstallSteps, request: UninstallRequest): Promise<Uninstalled | undefined> {
  const { client, release, record } = request;
  const ours = await readOurs(request);
  if ('kind' in ours) return ours;
  for (const [index, ref] of steps.purge.entries()) {
    const key = { namespace: release.namespace, name: ref.name };
    const refusal = await client.refusalTo('delete', STORAGE[ref.driver], key);
    if (refusal !== undefined) return { kind: 'failed', why: refusal };
    const newer = index === 0 ? undefined : await findNewer(client, release.namespace, record);
    if (newer !== undefined && newer.kind !== 'read') return unreadable(newer);
    if (newer?.value !== undefined) return { kind: 'changed', why: newer.value };
    const stop = await purgeRecord(ref, request);
    if (stop !== undefined) return stop;
  }
  return undefined;
}

async function purgeRecord(
  { driver, name, uid }: StorageRef,
  request: UninstallRequest,
): Promise<Uninstalled | undefined> {
  const { deletes, release, progress } = request;
  const object = { namespace: release.namespace, name, uid };
  const deletion = await deletes.delete(STORAGE[driver], object, 'release record');
  switch (deletion.kind) {
    case 'deleted':
      return (await progress.noteStart()) === 'stop' ? stopped(request) : undefined;
    case 'gone':
    case 'changed':
      return undefined;
    case 'forbidden':
    case 'refused':
      return { kind: 'failed', why: deletion.why };
    case 'held':
      return deletion.why === undefined
        ? { kind: 'waiting', until: deletion.until, why: 'budget' }
        : { kind: 'failed', why: `record ${name}: ${describeNotSaved(deletion.why)}` };
    case 'unwanted':
      return deletion;
    default:
      return assertNever(deletion);
  }
}

const unreadable = (read: Exclude<Read<unknown>, { kind: 'read' }>): Uninstalled => ({
  kind: 'failed',
  why: read.kind === 'forbidden' ? read.why : 'Secrets are not served',
});
