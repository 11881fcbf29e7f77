// Removing the objects of a release, one after the other. What is read of an object is the premise of its DELETE, and the
// release must be the one that was decided about until the last of them: whoever upgrades it meanwhile keeps it.

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
import { deleteUnchanged, getMetadata, type Hands } from './hands.ts';
import { findNewer, type ReleaseKey } from './helmStorage.ts';

/** Why nothing more is deleted now. */
export type Stop =
  | { readonly kind: 'waiting'; readonly until: Instant; readonly why: string }
  /** Somebody installed or upgraded it meanwhile: it is theirs again. */
  | { readonly kind: 'changed'; readonly why: string }
  /** The Cleaner is gone or going, and with it the reason to delete anything. */
  | { readonly kind: 'unwanted' };

export interface RemovalOptions {
  readonly hands: Hands;
  readonly discovery: Discovery;
  readonly record: RecordedRelease;
  readonly now: Instant;
  /** Whether the Cleaner still wants anything deleted, as far as is known here. */
  readonly isWanted: () => boolean;
  /** Why this may not be done for the actor, if so; asked only where the server does not judge by itself. */
  readonly refusalTo: (
    verb: 'get' | 'patch' | 'delete',
    kind: Kind,
    key: ObjectKey,
  ) => Promise<string | undefined>;
  /** Until when a deletion must wait for the operator's budget, if it must. */
  readonly heldUntil: (uid: string) => Instant | undefined;
  /** Something was deleted. `stop`: the Cleaner changed or went away meanwhile, and whoever decided must look again. */
  readonly onDeleted: (what: 'release object' | 'release record') => Promise<'go on' | 'stop'>;
}

/** How often an object that changes is read again before it waits for its turn. */
const ROUNDS = 5;
export const CONTENDED = seconds(1);

interface Removal {
  /** Objects that are, by this or an earlier try. */
  gone: number;
  /** Objects with the resource policy `keep`: the chart asks for it. */
  readonly kept: string[];
  /** Objects that the release does not own, or that the actor may not delete, each with the reason. */
  readonly left: string[];
  readonly problems: string[];
  /** Stopped in the middle. */
  stop?: Stop;
}

export const stopped = ({ now }: Pick<RemovalOptions, 'now'>): Stop => ({
  kind: 'waiting',
  until: now,
  why: 'changed while deleting',
});

/** One after the other, in order; a problem with one does not keep the others. */
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
        if ((await options.onDeleted('release object')) === 'stop')
          return { ...removal, stop: stopped(options) };
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
/** A refusal of the API server starts with the object, which is named already. */
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
  // What is not served, or cannot be a name, does not exist; Helm itself would refuse to uninstall at all.
  if (kind === 'unavailable') return problem(object, 'its API group is unavailable');
  if (kind === undefined || !canExist(object)) return ABSENT;
  const hands = handsFor(options.hands, kind, object, release);
  const { namespace } = hands;
  const key = { ...(namespace === '' ? {} : { namespace }), name: object.name };
  const refusal = await options.refusalTo('delete', kind, key);
  // Status must not disclose whether an object exists that the author may neither delete nor read.
  if (refusal !== undefined && (await options.refusalTo('get', kind, key)) !== undefined)
    return left(object, refusal);
  const where: Where = {
    object,
    kind,
    hands,
    release,
    options,
    ...(refusal === undefined ? {} : { refusal }),
  };
  let refused: string | undefined;
  for (let round = 1; round <= ROUNDS; round++) {
    const live = await getMetadata(hands, kind, object.name);
    if (live.kind === 'notServed') return ABSENT;
    if (live.kind === 'forbidden') return left(object, live.why);
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

/** Whether a live object is deleted with the release, as far as the object itself decides. */
export function computeBelonging(live: KubeObject, release: ReleaseKey): 'owned' | 'kept' | 'notOwned' {
  if (asksToStay(live.metadata.annotations)) return 'kept';
  return isOwnedBy(live, release) ? 'owned' : 'notOwned';
}

interface Where {
  readonly object: ManifestObject;
  readonly kind: Kind;
  readonly hands: Hands;
  readonly release: ReleaseKey;
  readonly options: RemovalOptions;
  /** Why the actor may not delete the object, if so. */
  readonly refusal?: string;
}

/**
 * Only what Helm stamped as the release's, and what does not ask to stay. The object is read first and the release is
 * looked at then: an upgrade writes its revision before it touches objects, so it is seen, or the version has changed.
 */
async function removeLive(
  live: KubeObject,
  refused: string | undefined,
  where: Where,
): Promise<Removed | 'conflict'> {
  const { object, kind, hands, release, options, refusal } = where;
  const { uid = '', deletionTimestamp, resourceVersion } = live.metadata;
  const belonging = computeBelonging(live, release);
  if (belonging === 'kept') return { kind: 'kept' };
  if (belonging === 'notOwned') return left(object, NOT_OWNED);
  if (deletionTimestamp !== undefined) return ABSENT;
  if (refusal !== undefined) return left(object, refusal);
  const newer = await findNewer(options.hands, options.record);
  if (newer.kind === 'forbidden') return problem(object, newer.why);
  if (newer.kind === 'read' && newer.value !== undefined) return { kind: 'changed', why: newer.value };
  const held = options.heldUntil(uid);
  if (held !== undefined) return { kind: 'waiting', until: held, why: 'budget' };
  if (!options.isWanted()) return { kind: 'unwanted' };
  // Refused though nothing changed: the server writes some objects itself before it deletes them in the background.
  const version = resourceVersion === undefined || resourceVersion === refused ? {} : { resourceVersion };
  const answer = await deleteUnchanged(hands, kind, { name: object.name, uid, ...version });
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
  // A version may be retired while its objects live on under another.
  const found = exact ?? (await discovery.find({ group: gv.group, kind: object.kind }));
  return found ?? ((await discovery.isUnavailable(gv.group)) ? 'unavailable' : undefined);
}

function handsFor(hands: Hands, kind: Kind, object: ManifestObject, release: ReleaseKey): Hands {
  return { ...hands, namespace: kind.namespaced ? object.namespace || release.namespace : '' };
}
