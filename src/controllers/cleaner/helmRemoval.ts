// Removing the objects of a release, one after the other. What is read of an object is the premise of its DELETE, and the
// release must be the one that was decided about until the last of them: whoever upgrades it meanwhile keeps it.

import { type Kind, keyOf, type ObjectKey } from '#api/kind';
import type { RecordedRelease } from '#api/kinds/cleaner';
import { checkPathSegment } from '#api/names';
import { type KubeObject, parseApiVersion } from '#api/object';
import { assertNever } from '#base/assertNever';
import { type Instant, plus, seconds } from '#base/instant';
import type { Discovery } from '#client/discovery';
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
  readonly allowForeign: boolean;
  /** Whether the Cleaner still wants anything deleted, as far as is known here. */
  readonly isWanted: () => boolean;
  /** Whether the actor may delete this object; asked only where the server does not judge by itself. */
  readonly mayDelete: (kind: Kind, key: ObjectKey) => Promise<boolean>;
  /** Until when a deletion must wait for the operator's budget, if it must. */
  readonly heldUntil: (uid: string) => Instant | undefined;
  /** Something was deleted. `stop`: the Cleaner changed or went away meanwhile, and whoever decided must look again. */
  readonly onDeleted: (what: 'release object' | 'release record') => Promise<'go on' | 'stop'>;
}

/** How often an object that changes is read again before it waits for its turn. */
const ROUNDS = 5;
const CONTENDED = seconds(1);

interface Removal {
  /** Objects that are, by this or an earlier try. */
  gone: number;
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
    left: steps.kept.map((object) => `${nameOf(object)} (keep)`),
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

type Removed =
  | { readonly kind: 'removed' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'left'; readonly why: string }
  | { readonly kind: 'problem'; readonly why: string }
  | Stop;

const ABSENT = { kind: 'absent' } as const;
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
  const foreign = options.allowForeign ? undefined : computeForeign(object, kind, release);
  if (foreign !== undefined) return { kind: 'left', why: `${nameOf(object)} (${foreign})` };
  const hands = handsFor(options.hands, kind, object, release);
  let refused: string | undefined;
  for (let round = 1; round <= ROUNDS; round++) {
    const live = await getMetadata(hands, kind, object.name);
    if (live.kind === 'notServed') return ABSENT;
    if (live.kind === 'forbidden') return problem(object, live.why);
    if (live.value === undefined) return ABSENT;
    const where: Where = { object, kind, hands, release, options };
    const result = await removeLive(live.value, refused, where);
    if (result !== 'conflict') return result;
    refused = live.value.metadata.resourceVersion;
  }
  return { kind: 'waiting', until: plus(options.now, CONTENDED), why: 'contended' };
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
  readonly object: ManifestObject;
  readonly kind: Kind;
  readonly hands: Hands;
  readonly release: ReleaseKey;
  readonly options: RemovalOptions;
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
  const { object, kind, hands, release, options } = where;
  const { uid = '', deletionTimestamp, resourceVersion } = live.metadata;
  const left = computeLeft(live, release);
  if (left !== undefined) return { kind: 'left', why: `${nameOf(object)} (${left})` };
  if (deletionTimestamp !== undefined) return ABSENT;
  if (!(await options.mayDelete(kind, keyOf(live)))) return problem(object, 'the author may not delete it');
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
