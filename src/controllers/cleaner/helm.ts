// Uninstalling a Helm release with somebody's rights, along the steps of src/helm. Every step can be repeated: what is
// gone stays gone, and Helm's own records go last, so that an interrupted uninstall is found and finished.

import { type Kind, keyOf, type ObjectKey } from '#api/kind';
import { ConfigMap, Secret } from '#api/kinds/builtin';
import { Cleaner, type RecordedRelease } from '#api/kinds/cleaner';
import { checkPathSegment } from '#api/names';
import { type KubeObject, parseApiVersion } from '#api/object';
import { assertNever } from '#base/assertNever';
import type { Instant } from '#base/instant';
import type { Discovery } from '#client/discovery';
import { asksToStay, type ManifestObject } from '#helm/manifest';
import { isOwnedBy } from '#helm/ownership';
import { type Driver, openHistory, readStored, type Stored, storageSelector } from '#helm/storage';
import { planUninstall, type UninstallPlan, type UninstallSteps } from '#helm/uninstall';
import { deleteObject, getMetadata, type Hands, listObjects, type Read } from './hands.ts';

/** More revisions than a record may hold are more than anybody has. */
export const MOST_REVISIONS = 1000;

export interface ReleaseKey {
  readonly name: string;
  readonly namespace: string;
}

const STORAGE: Readonly<Record<Driver, Kind>> = { secret: Secret, configmap: ConfigMap };

/** Helm's records of a release: in Secrets, or, where there are none, in ConfigMaps. */
export async function readStorage(hands: Hands, release: string): Promise<Read<Stored[]>> {
  for (const driver of ['secret', 'configmap'] as const) {
    const read = await listObjects<KubeObject>(
      hands,
      STORAGE[driver],
      storageSelector(release),
      MOST_REVISIONS,
    );
    if (read.kind !== 'read') return read;
    const found = read.value.flatMap((object) => readStored(object, driver, release) ?? []);
    if (found.length > 0) return { kind: 'read', value: found };
  }
  return { kind: 'read', value: [] };
}

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
  | { readonly kind: 'done'; readonly removed: number; readonly left: readonly string[] }
  | { readonly kind: 'busy'; readonly status: string; readonly until: Instant }
  | { readonly kind: 'failed'; readonly why: string }
  /** Somebody installed or upgraded it meanwhile: it is theirs again. */
  | { readonly kind: 'changed'; readonly why: string }
  /** A hook is running. */
  | { readonly kind: 'waiting'; readonly until: Instant; readonly why: string };

export interface UninstallOptions {
  readonly hands: Hands;
  readonly discovery: Discovery;
  readonly record: RecordedRelease;
  readonly self: string;
  readonly now: Instant;
  readonly allowForeign: boolean;
  /** Whether the actor may delete this object; asked only where the server does not judge by itself. */
  readonly mayDelete: (kind: Kind, key: ObjectKey) => Promise<boolean>;
  /** Until when a deletion must wait for the operator's budget, if it must. */
  readonly heldUntil: (uid: string) => Instant | undefined;
  /** Something was deleted. `stop`: the Cleaner changed or went away meanwhile, and whoever decided must look again. */
  readonly onDeleted: (what: 'release object' | 'release record') => Promise<'go on' | 'stop'>;
  /** Runs the hooks of an event; undefined when they are done. */
  readonly runHooks: (
    event: 'pre-delete' | 'post-delete',
    steps: UninstallSteps,
  ) => Promise<Uninstalled | undefined>;
}

/** The recorded part of what is stored now; that nothing of it is left; or that somebody else has been at it. */
function compareWithRecord(storage: readonly Stored[], record: RecordedRelease): Stored[] | string {
  const uids = new Set(record.storage.map(({ uid }) => uid));
  const ours = storage.filter(({ uid }) => uids.has(uid));
  // The newest is purged last: without any of ours everything was done, whatever has the name now.
  if (ours.length === 0) return [];
  const newer = storage.find(({ uid }) => !uids.has(uid));
  if (newer !== undefined)
    return `revision ${newer.revision} appeared while revision ${record.revision} was being uninstalled`;
  if (!ours.some(({ revision }) => revision === record.revision))
    return `the record of revision ${record.revision} disappeared before those of older revisions`;
  return ours;
}

export async function uninstall(options: UninstallOptions): Promise<Uninstalled> {
  const { hands, record, now, self } = options;
  const release = { name: record.release, namespace: hands.namespace };
  const read = await readStorage(hands, record.release);
  if (read.kind !== 'read') return unreadable(read);
  const ours = compareWithRecord(read.value, record);
  if (typeof ours === 'string') return { kind: 'changed', why: ours };
  const plan = await planRelease(ours, release, self, now);
  switch (plan.kind) {
    case 'absent':
      return { kind: 'done', removed: 0, left: [] };
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
  const before = await options.runHooks('pre-delete', steps);
  if (before !== undefined) return before;
  const { removed, left, problems, held } = await removeAll(steps, release, options);
  if (held !== undefined) return { kind: 'waiting', until: held, why: 'budget' };
  if (problems.length > 0) return { kind: 'failed', why: problems.slice(0, 5).join('; ') };
  const after = await options.runHooks('post-delete', steps);
  if (after !== undefined) return after;
  const purged = await purge(steps, options);
  return purged ?? { kind: 'done', removed, left };
}

interface Removal {
  removed: number;
  readonly left: string[];
  readonly problems: string[];
  /** Stopped in the middle, to go on then. */
  held?: Instant;
}

/** One after the other, in order; a problem with one does not keep the others. */
async function removeAll(
  steps: UninstallSteps,
  release: ReleaseKey,
  options: UninstallOptions,
): Promise<Removal> {
  const removal: Removal = {
    removed: 0,
    left: steps.kept.map((object) => `${nameOf(object)} (keep)`),
    problems: [],
  };
  for (const object of steps.removals) {
    const result = await remove(object, release, options);
    if (result === 'removed') {
      removal.removed++;
      if ((await options.onDeleted('release object')) === 'stop') return { ...removal, held: options.now };
    } else if (typeof result === 'number') return { ...removal, held: result };
    else if (result !== 'absent') (result.problem ? removal.problems : removal.left).push(result.why);
  }
  return removal;
}

const nameOf = ({ kind, name }: ManifestObject): string => `${kind}/${name}`;

/** An instant: not before then. */
type Removed = 'removed' | 'absent' | Instant | { readonly problem: boolean; readonly why: string };
const leave = (object: ManifestObject, why: string): Removed => ({
  problem: false,
  why: `${nameOf(object)} (${why})`,
});
const problem = (object: ManifestObject, why: string): Removed => ({
  problem: true,
  why: `${nameOf(object)}: ${why}`,
});

async function remove(
  object: ManifestObject,
  release: ReleaseKey,
  options: UninstallOptions,
): Promise<Removed> {
  const kind = await findKind(options.discovery, object);
  // What is not served, or cannot be a name, does not exist; Helm itself would refuse to uninstall at all.
  if (kind === undefined || !canExist(object)) return 'absent';
  const foreign = options.allowForeign ? undefined : computeForeign(object, kind, release);
  if (foreign !== undefined) return leave(object, foreign);
  const hands = handsFor(options.hands, kind, object, release);
  const live = await getMetadata(hands, kind, object.name);
  if (live.kind === 'notServed') return 'absent';
  if (live.kind === 'forbidden') return problem(object, live.why);
  return live.value === undefined
    ? 'absent'
    : removeLive(object, kind, live.value, { hands, release, options });
}

const canExist = ({ name, namespace }: ManifestObject): boolean =>
  [name, namespace].every((part) => checkPathSegment(part).length === 0);

/** Why an object is not the release's alone to delete, if so. */
export function computeForeign(
  object: ManifestObject,
  { namespaced }: Kind,
  release: ReleaseKey,
): string | undefined {
  if (!namespaced) return 'not in a namespace';
  return object.namespace !== '' && object.namespace !== release.namespace
    ? 'in another namespace'
    : undefined;
}

/** Why what is there under the name is left alone, if so. */
export function computeLeft(live: KubeObject, release: ReleaseKey): string | undefined {
  if (!isOwnedBy(live, release)) return 'not owned by the release';
  return asksToStay(live.metadata.annotations) ? 'keep' : undefined;
}

interface Where {
  readonly hands: Hands;
  readonly release: ReleaseKey;
  readonly options: UninstallOptions;
}

/** Only what Helm stamped as the release's, and what does not ask to stay. */
async function removeLive(
  object: ManifestObject,
  kind: Kind,
  live: KubeObject,
  { hands, release, options }: Where,
): Promise<Removed> {
  const { uid = '', deletionTimestamp } = live.metadata;
  const left = computeLeft(live, release);
  if (left !== undefined) return leave(object, left);
  if (deletionTimestamp !== undefined) return 'absent';
  if (!(await options.mayDelete(kind, keyOf(live)))) return problem(object, 'the author may not delete it');
  const held = options.heldUntil(uid);
  if (held !== undefined) return held;
  const answer = await deleteObject(hands, kind, { name: object.name, uid });
  switch (answer.kind) {
    case 'deleted':
      return 'removed';
    case 'gone':
      return 'absent';
    case 'forbidden':
    case 'refused':
      return problem(object, answer.why);
    default:
      return assertNever(answer);
  }
}

async function findKind(discovery: Discovery, object: ManifestObject): Promise<Kind | undefined> {
  const gv = parseApiVersion(object.apiVersion);
  if (gv === undefined) return undefined;
  const exact = await discovery.find({ ...gv, kind: object.kind });
  // A version may be retired while its objects live on under another.
  return exact ?? discovery.find({ group: gv.group, kind: object.kind });
}

function handsFor(hands: Hands, kind: Kind, object: ManifestObject, release: ReleaseKey): Hands {
  return { ...hands, namespace: kind.namespaced ? object.namespace || release.namespace : '' };
}

/** Oldest first, by uid, and only if nobody wrote a new revision meanwhile. */
async function purge(steps: UninstallSteps, options: UninstallOptions): Promise<Uninstalled | undefined> {
  const { hands, record } = options;
  const read = await readStorage(hands, record.release);
  if (read.kind !== 'read') return unreadable(read);
  const ours = compareWithRecord(read.value, record);
  if (typeof ours === 'string') return { kind: 'changed', why: ours };
  for (const ref of steps.purge) {
    const kind = STORAGE[ref.driver];
    if (!(await options.mayDelete(kind, { namespace: hands.namespace, name: ref.name })))
      return { kind: 'failed', why: `the author may not delete ${kind.resource}` };
    const held = options.heldUntil(ref.uid);
    if (held !== undefined) return { kind: 'waiting', until: held, why: 'budget' };
    const answer = await deleteObject(hands, kind, ref);
    if (answer.kind === 'forbidden' || answer.kind === 'refused') return { kind: 'failed', why: answer.why };
    if (answer.kind === 'deleted' && (await options.onDeleted('release record')) === 'stop')
      return { kind: 'waiting', until: options.now, why: 'changed while deleting' };
  }
  return undefined;
}

const unreadable = (read: Exclude<Read<unknown>, { kind: 'read' }>): Uninstalled => ({
  kind: 'failed',
  why: read.kind === 'forbidden' ? read.why : 'Secrets are not served',
});
