// Uninstalling a Helm release with somebody's rights, along the steps of src/helm. Every step can be repeated: what is
// gone stays gone, and Helm's own records go last, so that an interrupted uninstall is found and finished.

import { Cleaner } from '#api/kinds/cleaner';
import { parseApiVersion } from '#api/object';
import { assertNever } from '#base/assertNever';
import type { Instant } from '#base/instant';
import type { ManifestObject } from '#helm/manifest';
import { openHistory, type Stored } from '#helm/storage';
import { planUninstall, type UninstallPlan, type UninstallSteps } from '#helm/uninstall';
import { deleteObject, type Read } from './hands.ts';
import { type RemovalOptions, removeAll, type Stop, stopped } from './helmRemoval.ts';
import { compareWithRecord, findNewer, type ReleaseKey, readRecorded, STORAGE } from './helmStorage.ts';

/** A Cleaner that is part of its own release goes last, by its own hand. */
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
  /** `gone`: how many objects are, whoever deleted them and when; unset: its records were gone already. */
  | { readonly kind: 'done'; readonly gone?: number; readonly left: readonly string[] }
  | { readonly kind: 'busy'; readonly status: string; readonly until: Instant }
  | { readonly kind: 'failed'; readonly why: string }
  | Stop;

export interface UninstallOptions extends RemovalOptions {
  readonly self: string;
  /** Runs the hooks of an event; undefined when they are done. */
  readonly runHooks: (
    event: 'pre-delete' | 'post-delete',
    steps: UninstallSteps,
  ) => Promise<Uninstalled | undefined>;
}

export async function uninstall(options: UninstallOptions): Promise<Uninstalled> {
  const { hands, record, now, self } = options;
  const release = { name: record.release, namespace: hands.namespace };
  const read = await readRecorded(hands, record);
  if (read.kind !== 'read') return unreadable(read);
  const ours = compareWithRecord(read.value, record);
  if (typeof ours === 'string') return { kind: 'changed', why: ours };
  const plan = await planRelease(ours, release, self, now);
  switch (plan.kind) {
    case 'absent':
      return { kind: 'done', left: [] };
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
  const { gone, left, problems, stop } = await removeAll(steps, release, options);
  if (stop !== undefined) return stop;
  if (problems.length > 0) return { kind: 'failed', why: problems.slice(0, 5).join('; ') };
  const after = await options.runHooks('post-delete', steps);
  if (after !== undefined) return after;
  const purged = await purge(steps, options);
  return purged ?? { kind: 'done', gone, left };
}

/** Oldest first, by uid, and only as long as nobody writes a new revision. */
async function purge(steps: UninstallSteps, options: UninstallOptions): Promise<Uninstalled | undefined> {
  const { hands, record } = options;
  const read = await readRecorded(hands, record);
  if (read.kind !== 'read') return unreadable(read);
  const ours = compareWithRecord(read.value, record);
  if (typeof ours === 'string') return { kind: 'changed', why: ours };
  for (const ref of steps.purge) {
    const kind = STORAGE[ref.driver];
    if (!(await options.mayDelete(kind, { namespace: hands.namespace, name: ref.name })))
      return { kind: 'failed', why: `the author may not delete ${kind.resource}` };
    const newer = ref === steps.purge[0] ? undefined : await findNewer(hands, record);
    if (newer !== undefined && newer.kind !== 'read') return unreadable(newer);
    if (newer?.value !== undefined) return { kind: 'changed', why: newer.value };
    const held = options.heldUntil(ref.uid);
    if (held !== undefined) return { kind: 'waiting', until: held, why: 'budget' };
    if (!options.isWanted()) return { kind: 'unwanted' };
    const answer = await deleteObject(hands, kind, ref);
    if (answer.kind === 'forbidden' || answer.kind === 'refused') return { kind: 'failed', why: answer.why };
    if (answer.kind === 'deleted' && (await options.onDeleted('release record')) === 'stop')
      return stopped(options);
  }
  return undefined;
}

const unreadable = (read: Exclude<Read<unknown>, { kind: 'read' }>): Uninstalled => ({
  kind: 'failed',
  why: read.kind === 'forbidden' ? read.why : 'Secrets are not served',
});
