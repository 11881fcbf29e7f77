// Deletes the objects of a release one after the other. Each DELETE has the state that was read as a precondition.
// Before each one, the release must still be the one of the decision: a release that is upgraded meanwhile is kept.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, plus, seconds } from '@lapse/base/instant';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { checkPathSegment } from '@lapse/kube/api/names';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { Discovery } from '@lapse/kube/client/discovery';
import type { RecordedRelease } from '#api/cleaner';
import { asksToStay, type ManifestObject } from '#helm/manifest';
import { isOwnedBy } from '#helm/ownership';
import type { UninstallSteps } from '#helm/uninstall';
import { type DeletingClient, deleteUnchanged, getMetadata } from './authorizedClient.ts';
import { findNewer, type ReleaseKey } from './helmStorage.ts';

/** Why the uninstall stops. */
export type Stop =
  | { readonly kind: 'waiting'; readonly until: Instant; readonly why: string }
  /** The release was installed or upgraded meanwhile. It is kept. */
  | { readonly kind: 'changed'; readonly why: string }
  /** The Cleaner is deleted or terminating, so nothing more may be deleted for it. */
  | { readonly kind: 'unwanted' };

export interface RemovalOptions {
  readonly authorized: DeletingClient;
  readonly discovery: Discovery;
  readonly record: RecordedRelease;
  readonly now: Instant;
  /** Whether the Cleaner still exists unchanged, as far as the cache shows. */
  readonly isWanted: () => boolean;
  /**
   * Returns why the actor may not do this, or undefined. Sends a review only where requests do not impersonate the
   * subject.
   */
  readonly refusalTo: (
    verb: 'get' | 'patch' | 'delete',
    kind: Kind,
    key: ObjectKey,
  ) => Promise<string | undefined>;
  /** Until when a deletion must wait for the operator's budget. Undefined: it may proceed. */
  readonly heldUntil: (uid: string) => Instant | undefined;
  /** Called after a deletion. `stop`: the Cleaner changed or was deleted meanwhile, and must be evaluated again. */
  readonly onDeleted: () => Promise<'go on' | 'stop'>;
}

/** How often an object that keeps changing is read again before the uninstall is retried later. */
const ROUNDS = 5;
export const CONTENDED = seconds(1);

interface Removal {
  /** Number of objects that no longer exist, deleted by this or an earlier attempt. */
  gone: number;
  /** Objects that the chart keeps with the resource policy `keep`. */
  readonly kept: string[];
  /** Objects that the release does not own or that the actor may not delete, each with the reason. */
  readonly left: string[];
  readonly problems: string[];
  /** Set if the removal stopped early. */
  stop?: Stop;
}

export const stopped = ({ now }: Pick<RemovalOptions, 'now'>): Stop => ({
  kind: 'waiting',
  until: now,
  why: 'changed while deleting',
});

/** Deletes the objects one after the other, in order. A problem with one does not stop the others. */
export async function removeAll(
  steps: UninstallSteps,
  release: ReleaseKey,
  options: RemovalOptions,
): Promise<Removal> {
  const removal: Removal = {
    gone: 0,
    kept: steps.kept.map(nameOf),
    left: [],
    problems: [],
  };
  for (const object of steps.removals) {
    const result = await remove(object, release, options);
    switch (result.kind) {
      case 'absent':
        removal.gone++;
        break;
      case 'removed':
        removal.gone++;
        if ((await options.onDeleted()) === 'stop') return { ...removal, stop: stopped(options) };
        break;
      case 'kept':
        removal.kept.push(nameOf(object));
        break;
      case 'left':
        removal.left.push(result.why);
        break;
      case 'problem':
        removal.problems.push(result.why);
        break;
      default:
        return { ...removal, stop: result };
    }
  }
  return removal;
}

const nameOf = ({ kind, name }: ManifestObject): string => `${kind}/${name}`;

const LONGEST_REASON = 160;
/** A 403 of the API server starts with the object, which the message already names. */
const shorten = (why: string): string => why.replace(/^.* is forbidden: /s, '').slice(0, LONGEST_REASON);

type Removed =
  | { readonly kind: 'removed' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'kept' }
  | { readonly kind: 'left'; readonly why: string }
  | { readonly kind: 'problem'; readonly why: string }
  | Stop;

const ABSENT = { kind: 'absent' } as const;
const left = (object: ManifestObject, why: string): Removed => ({
  kind: 'left',
  why: `${nameOf(object)} (${shorten(why)})`,
});
const problem = (object: ManifestObject, why: string): Removed => ({
  kind: 'problem',
  why: `${nameOf(object)}: ${why}`,
});

async function remove(
  object: ManifestObject,
  release: ReleaseKey,
  options: RemovalOptions,
): Promise<Removed> {
  const kind = await findKind(options.discovery, object);
  // An object whose kind is not served or whose name is invalid does not exist. Helm itself would refuse the
  // uninstall.
  if (kind === 'unavailable') return problem(object, 'its API group is unavailable');
  if (kind === undefined || !canExist(object)) return ABSENT;
  const authorized = authorizedClientFor(options.authorized, kind, object, release);
  const { namespace } = authorized;
  const key = { ...(namespace === '' ? {} : { namespace }), name: object.name };
  const refusal = await options.refusalTo('delete', kind, key);
  // Status must not disclose whether an object exists that the author may neither delete nor read.
  if (refusal !== undefined && (await options.refusalTo('get', kind, key)) !== undefined)
    return left(object, refusal);
  const where: Where = {
    object,
    kind,
    authorized,
    release,
    options,
    ...(refusal === undefined ? {} : { refusal }),
  };
  let refused: string | undefined;
  for (let round = 1; round <= ROUNDS; round++) {
    const live = await getMetadata(authorized, kind, object.name);
    if (live.kind === 'notServed') return ABSENT;
    if (live.kind === 'forbidden') return left(object, live.why);
    authorized.observe(kind, key, live.value);
    if (live.value === undefined) return ABSENT;
    const result = await removeLive(live.value, refused, where);
    if (result !== 'conflict') return result;
    refused = live.value.metadata.resourceVersion;
  }
  return { kind: 'waiting', until: plus(options.now, CONTENDED), why: 'contended' };
}

const canExist = ({ name, namespace }: ManifestObject): boolean =>
  [name, namespace].every((part) => checkPathSegment(part).length === 0);

export const NOT_OWNED = 'not owned by the release';

/** Whether a live object is deleted with the release, according to its own labels and annotations. */
export function computeBelonging(live: KubeObject, release: ReleaseKey): 'owned' | 'kept' | 'notOwned' {
  if (asksToStay(live.metadata.annotations)) return 'kept';
  return isOwnedBy(live, release) ? 'owned' : 'notOwned';
}

interface Where {
  readonly object: ManifestObject;
  readonly kind: Kind;
  readonly authorized: DeletingClient;
  readonly release: ReleaseKey;
  readonly options: RemovalOptions;
  /** Why the actor may not delete the object, if so. */
  readonly refusal?: string;
}

/**
 * Deletes only objects with Helm's ownership metadata of this release and without the resource policy `keep`. Reads
 * the object first and the release second: an upgrade writes its revision before it changes objects, so either the
 * new revision is seen or the resourceVersion has changed.
 */
async function removeLive(
  live: KubeObject,
  refused: string | undefined,
  where: Where,
): Promise<Removed | 'conflict'> {
  const { object, kind, authorized, release, options, refusal } = where;
  const { uid = '', deletionTimestamp, resourceVersion } = live.metadata;
  const belonging = computeBelonging(live, release);
  if (belonging === 'kept') return { kind: 'kept' };
  if (belonging === 'notOwned') return left(object, NOT_OWNED);
  if (deletionTimestamp !== undefined) return ABSENT;
  if (refusal !== undefined) return left(object, refusal);
  const newer = await findNewer(options.authorized, options.record);
  if (newer.kind === 'forbidden') return problem(object, newer.why);
  if (newer.kind === 'read' && newer.value !== undefined) return { kind: 'changed', why: newer.value };
  const held = options.heldUntil(uid);
  if (held !== undefined) return { kind: 'waiting', until: held, why: 'budget' };
  if (!options.isWanted()) return { kind: 'unwanted' };
  // Rejected although nothing changed: the API server writes some objects itself before it deletes them in the
  // background.
  const version = resourceVersion === undefined || resourceVersion === refused ? {} : { resourceVersion };
  const answer = await deleteUnchanged(
    authorized,
    kind,
    { name: object.name, uid, ...version },
    'release object',
  );
  switch (answer.kind) {
    case 'deleted':
      return { kind: 'removed' };
    case 'gone':
      return ABSENT;
    case 'changed':
      return 'conflict';
    case 'forbidden':
      return left(object, answer.why);
    case 'refused':
      return problem(object, answer.why);
    default:
      return assertNever(answer);
  }
}

async function findKind(
  discovery: Discovery,
  object: ManifestObject,
): Promise<Kind | 'unavailable' | undefined> {
  const gv = parseApiVersion(object.apiVersion);
  if (gv === undefined) return undefined;
  const exact = await discovery.find({ ...gv, kind: object.kind });
  // A version may no longer be served while its objects exist in another version.
  const found = exact ?? (await discovery.find({ group: gv.group, kind: object.kind }));
  return found ?? ((await discovery.isUnavailable(gv.group)) ? 'unavailable' : undefined);
}

function authorizedClientFor(
  authorized: DeletingClient,
  kind: Kind,
  object: ManifestObject,
  release: ReleaseKey,
): DeletingClient {
  return { ...authorized, namespace: kind.namespaced ? object.namespace || release.namespace : '' };
}
