// Deletes the objects of a release one after the other. Each DELETE has the state that was read as a precondition.
// Before each one, the release must still be the one of the decision: a release that is upgraded meanwhile is kept.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, plus, seconds } from '@lapse/base/instant';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { checkPathSegment } from '@lapse/kube/api/names';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { Discovery } from '@lapse/kube/client/discovery';
import { describeNotSaved } from '#deletion/trash';
import { asksToStay, type ManifestObject } from './manifest.ts';
import { isOwnedBy, type ReleaseKey } from './ownership.ts';
import { findNewer } from './readStorage.ts';
import type { UninstallRequest } from './uninstall.ts';
import type { UninstallSteps } from './uninstallPlan.ts';

/** Why the uninstall stops. */
export type Stop =
  | { readonly kind: 'waiting'; readonly until: Instant; readonly why: string }
  /** The release was installed or upgraded meanwhile. It is kept. */
  | { readonly kind: 'changed'; readonly why: string }
  /** The Cleaner is deleted or terminating, so nothing more may be deleted for it. */
  | { readonly kind: 'unwanted' };

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

export const stopped = ({ now }: Pick<UninstallRequest, 'now'>): Extract<Stop, { kind: 'waiting' }> => ({
  kind: 'waiting',
  until: now,
  why: 'changed while deleting',
});

/** Deletes the objects one after the other, in order. A problem with one does not stop the others. */
export async function removeObjects(steps: UninstallSteps, request: UninstallRequest): Promise<Removal> {
  const removal: Removal = {
    gone: 0,
    kept: steps.kept.map(nameOf),
    left: [],
    problems: [],
  };
  for (const object of steps.removals) {
    const result = await remove(object, request);
    switch (result.kind) {
      case 'absent':
        removal.gone++;
        break;
      case 'removed':
        removal.gone++;
        if ((await request.progress.noteStart()) === 'stop') return { ...removal, stop: stopped(request) };
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

async function remove(object: ManifestObject, request: UninstallRequest): Promise<Removed> {
  const { discovery, client, release } = request;
  const kind = await findKind(discovery, object);
  // An object whose kind is not served or whose name is invalid does not exist. Helm itself would refuse the
  // uninstall.
  if (kind === 'unavailable') return problem(object, 'its API group is unavailable');
  if (kind === undefined || !canExist(object)) return ABSENT;
  const namespace = kind.namespaced ? { namespace: object.namespace || release.namespace } : {};
  const key = { ...namespace, name: object.name };
  const refusal = await client.refusalTo('delete', kind, key);
  // Status must not disclose whether an object exists that the author may neither delete nor read.
  if (refusal !== undefined && (await client.refusalTo('get', kind, key)) !== undefined)
    return left(object, refusal);
  return removeAsRead({ object, kind, key, refusal }, request);
}

/** Reads the object and deletes it as it was read, again if it changed in between. */
async function removeAsRead(where: Where, request: UninstallRequest): Promise<Removed> {
  const { object, kind, key } = where;
  let refused: string | undefined;
  for (let round = 1; round <= ROUNDS; round++) {
    const live = await request.client.getMetadata(kind, key);
    if (live.kind === 'notServed') return ABSENT;
    if (live.kind === 'forbidden') return left(object, live.why);
    request.deletes.observe(kind, key, live.value);
    if (live.value === undefined) return ABSENT;
    const result = await removeLive(live.value, refused, where, request);
    if (result !== 'conflict') return result;
    refused = live.value.metadata.resourceVersion;
  }
  return { kind: 'waiting', until: plus(request.now, CONTENDED), why: 'contended' };
}

const canExist = ({ name, namespace }: ManifestObject): boolean =>
  [name, namespace].every((part) => checkPathSegment(part).length === 0);

export const NOT_OWNED = 'not owned by the release';

/** `kept`: the chart sets the resource policy. */
export type Belonging = 'owned' | 'kept' | 'notOwned';

/** Whether a live object is deleted with the release, according to its own labels and annotations. */
export function computeBelonging(live: KubeObject, release: ReleaseKey): Belonging {
  if (asksToStay(live.metadata.annotations)) return 'kept';
  return isOwnedBy(live, release) ? 'owned' : 'notOwned';
}

interface Where {
  readonly object: ManifestObject;
  readonly kind: Kind;
  readonly key: ObjectKey;
  /** Why the actor may not delete the object, if so. */
  readonly refusal: string | undefined;
}

/**
 * Deletes only objects with Helm's ownership metadata of this release and without the resource policy `keep`. Reads
 * the object first and the release second: an upgrade writes its revision before it changes objects, so either the
 * new revision is seen or the resourceVersion has changed.
 */
async function removeLive(
  live: KubeObject,
  refused: string | undefined,
  { object, kind, key, refusal }: Where,
  { client, deletes, release, record }: UninstallRequest,
): Promise<Removed | 'conflict'> {
  const { uid = '', deletionTimestamp, resourceVersion } = live.metadata;
  const belonging = computeBelonging(live, release);
  if (belonging === 'kept') return { kind: 'kept' };
  if (belonging === 'notOwned') return left(object, NOT_OWNED);
  if (deletionTimestamp !== undefined) return ABSENT;
  if (refusal !== undefined) return left(object, refusal);
  const newer = await findNewer(client, release.namespace, record);
  if (newer.kind === 'forbidden') return problem(object, newer.why);
  if (newer.kind === 'read' && newer.value !== undefined) return { kind: 'changed', why: newer.value };
  // Rejected although nothing changed: the API server writes some objects itself before it deletes them in the
  // background.
  const version = resourceVersion === undefined || resourceVersion === refused ? {} : { resourceVersion };
  const deletion = await deletes.delete(kind, { ...key, uid, ...version }, 'release object');
  switch (deletion.kind) {
    case 'deleted':
      return { kind: 'removed' };
    case 'gone':
      return ABSENT;
    case 'changed':
      return 'conflict';
    case 'forbidden':
      return left(object, deletion.why);
    case 'refused':
      return problem(object, deletion.why);
    case 'held':
      return deletion.why === undefined
        ? { kind: 'waiting', until: deletion.until, why: 'budget' }
        : problem(object, describeNotSaved(deletion.why));
    case 'unwanted':
      return deletion;
    default:
      return assertNever(deletion);
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
