// Explains one object: its own rules first, then what it is deleted with (owners, its namespace, what a keeper
// follows), each explained in the same way, upwards only. The earliest deletion counts.

import { type Instant, instant, parseTime } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { Namespace } from '@lapse/kube/api/kinds/builtin';
import { apiVersionOf, type KubeObject, type OwnerReference } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { FOREGROUND, ORPHAN } from '@lapse/simulation/controllers/ownerGc/compute';
import { ObjectKeeper } from '#api/objectKeeper';
import { nameOf, type ObjectName } from '#controllers/forecaster';
import { type Asking, askRules } from './decisions.ts';
import type { Opinion, Verdict } from './explanation.ts';

export interface Explaining extends Asking {
  readonly client: Pick<Client, 'get'>;
}

/** What is known about one object before it is explained. */
export interface Found {
  readonly object: ObjectName;
  /** An owner that is kept, so that the garbage collector keeps the object. */
  readonly keeper?: ObjectName;
  readonly opinions: readonly Opinion[];
  readonly verdict: Verdict;
}

/** Limit of the ownership depth. Real clusters have less. */
const MOST_STEPS = 8;

type Path = readonly string[];

export async function judge(
  explaining: Explaining,
  kind: Kind,
  found: KubeObject,
  path: Path = [],
): Promise<Found> {
  const object = nameOf(kind, found);
  const steps = [...path, object.uid];
  const { deletionTimestamp, finalizers = [] } = found.metadata;
  const opinions = await askRules(explaining, object, await endsOfFollowed(explaining, found, steps));
  if (deletionTimestamp !== undefined) {
    const since = parseTime(deletionTimestamp);
    return { object, opinions, verdict: { kind: 'lingers', since, finalizers } };
  }
  const owners = await withOwners(explaining, found, steps);
  const home = await withNamespace(explaining, found, steps);
  const company = [owners?.kind === 'goesWith' ? owners : undefined, home].flatMap((one) => one ?? []);
  const keeper = owners?.kind === 'keeper' ? { keeper: owners.object } : {};
  return { object, opinions, verdict: decide(opinions, company), ...keeper };
}

/** The earliest deletion counts. Otherwise what holds it. Otherwise why it is kept. */
function decide(opinions: readonly Opinion[], company: readonly Verdict[]): Verdict {
  const own = opinions.flatMap((by): Verdict[] =>
    by.says === 'ends' && by.at !== undefined ? [{ kind: 'ends', at: by.at, by }] : [],
  );
  const [earliest] = [...own, ...company].sort((a, b) => timeOf(a) - timeOf(b));
  if (earliest !== undefined) return earliest;
  const said = (what: Opinion['says']) => opinions.filter(({ says }) => says === what);
  const [held] = said('held');
  if (held !== undefined) return { kind: 'held', by: held };
  const [change] = said('changes').sort((a, b) => a.at! - b.at!);
  if (change !== undefined) return { kind: 'changes', at: change.at!, by: change };
  const [stays] = said('stays');
  return stays === undefined ? { kind: 'unruled' } : { kind: 'stays', by: stays };
}

const timeOf = (verdict: Verdict): number =>
  verdict.kind === 'ends' || verdict.kind === 'goesWith' ? verdict.at : Number.POSITIVE_INFINITY;

/** When an object is deleted, as far as is known. */
function deletedAt({ verdict }: Found, now: Instant): Instant | undefined {
  if (verdict.kind === 'lingers') return now;
  return verdict.kind === 'ends' || verdict.kind === 'goesWith' ? laterOf(verdict.at, now) : undefined;
}

/** When it no longer exists. Undefined with a foreign finalizer, because the time of its removal is unknown. */
const goneAt = (found: Found, { metadata }: KubeObject, now: Instant): Instant | undefined =>
  foreignFinalizers(metadata.finalizers).length > 0 ? undefined : deletedAt(found, now);

/**
 * When its dependents are deleted: before it in the foreground, after it in the background, never when they are
 * orphaned.
 */
function releasedAt(found: Found, owner: KubeObject, now: Instant): Instant | undefined {
  const { verdict } = found;
  const { finalizers = [] } = owner.metadata;
  const manner = verdict.kind === 'ends' ? verdict.by.propagation : undefined;
  const isDeleted = verdict.kind === 'lingers';
  if (manner === 'Orphan' || (isDeleted && finalizers.includes(ORPHAN))) return undefined;
  const isFirst = manner === 'Foreground' || (isDeleted && finalizers.includes(FOREGROUND));
  return isFirst ? deletedAt(found, now) : goneAt(found, owner, now);
}

/** An overdue object is deleted now, not in the past. */
const laterOf = (at: Instant, now: Instant): Instant => instant(Math.max(at, now));

export const foreignFinalizers = (finalizers: readonly string[] = []): string[] =>
  finalizers.filter((finalizer) => finalizer !== FOREGROUND && finalizer !== ORPHAN);

type Going = Extract<Verdict, { kind: 'goesWith' }>;
type Owned = Going | { readonly kind: 'keeper'; readonly object: ObjectName };

/** The garbage collector deletes objects that have lost all their owners. */
async function withOwners(explaining: Explaining, found: KubeObject, path: Path): Promise<Owned | undefined> {
  const { ownerReferences = [], namespace } = found.metadata;
  if (ownerReferences.length === 0 || path.length > MOST_STEPS) return undefined;
  let last: Going | undefined;
  for (const reference of ownerReferences) {
    const end = await endOfOwner(explaining, reference, namespace, path);
    if (end === undefined || end.kind === 'keeper') return end;
    if (last === undefined || end.at > last.at) last = end;
  }
  return last;
}

/** Undefined: unknown. */
async function endOfOwner(
  explaining: Explaining,
  { apiVersion, kind: kindName, name, uid }: OwnerReference,
  namespace: string | undefined,
  path: Path,
): Promise<Owned | undefined> {
  const { served, now } = explaining;
  const kind = served.find((one) => apiVersionOf(one) === apiVersion && one.kind === kindName);
  if (kind === undefined || path.includes(uid)) return undefined;
  const home = kind.namespaced && namespace !== undefined ? { namespace } : {};
  const owner = await readIfAllowed(explaining, kind, { ...home, name });
  if (owner === 'unreadable') return undefined;
  const what: ObjectName = { apiVersion, kind: kindName, ...home, name, uid };
  if (owner === undefined || owner.metadata.uid !== uid)
    return { kind: 'goesWith', at: now, what, how: 'lost', because: 'does not exist any more' };
  const judged = await judge(explaining, kind, owner, path);
  const at = releasedAt(judged, owner, now);
  return at === undefined
    ? { kind: 'keeper', object: what }
    : { kind: 'goesWith', at, what, how: 'owner', because: wordsOf(judged.verdict) };
}

/** All objects in a namespace are deleted with it. */
async function withNamespace(
  explaining: Explaining,
  found: KubeObject,
  path: Path,
): Promise<Verdict | undefined> {
  const { namespace } = found.metadata;
  if (namespace === undefined || namespace === '' || path.length > MOST_STEPS) return undefined;
  const home = await readIfAllowed(explaining, Namespace as Kind, { name: namespace });
  if (home === undefined || home === 'unreadable') return undefined;
  const judged = await judge(explaining, Namespace as Kind, home, path);
  // Its contents are deleted first, even if a finalizer keeps the namespace itself.
  const at = deletedAt(judged, explaining.now);
  if (at === undefined) return undefined;
  return { kind: 'goesWith', at, what: judged.object, how: 'namespace', because: wordsOf(judged.verdict) };
}

/** Why another object is deleted, as a phrase after its name. */
function wordsOf(verdict: Verdict): string {
  if (verdict.kind === 'ends') {
    const { because, rule } = verdict.by;
    return `ends: ${because}${because.includes(rule) ? '' : ` (${rule})`}`;
  }
  if (verdict.kind === 'goesWith')
    return `goes with ${verdict.what.kind} ${verdict.what.name}, which ${verdict.because}`;
  return 'is being deleted';
}

/** A keeper is deleted with the object that it follows, so that object is explained first. */
async function endsOfFollowed(
  explaining: Explaining,
  found: KubeObject,
  path: Path,
): Promise<(uid: string) => Instant | undefined> {
  const { followObjectRef: ref } = (found as ObjectKeeper).spec ?? {};
  const isKeeper = found.apiVersion === apiVersionOf(ObjectKeeper) && found.kind === ObjectKeeper.kind;
  if (!isKeeper || ref === undefined || path.length > MOST_STEPS || path.includes(ref.uid))
    return () => undefined;
  const kind = explaining.served.find((one) => apiVersionOf(one) === ref.apiVersion && one.kind === ref.kind);
  if (kind === undefined) return () => undefined;
  const home = kind.namespaced ? { namespace: ref.namespace } : {};
  const followed = await readIfAllowed(explaining, kind, { ...home, name: ref.name });
  if (followed === undefined || followed === 'unreadable' || followed.metadata.uid !== ref.uid)
    return () => undefined;
  const at = goneAt(await judge(explaining, kind, followed, path), followed, explaining.now);
  return (uid) => (uid === ref.uid ? at : undefined);
}

/** An owner that may not be read is reported, and the explanation continues. */
async function readIfAllowed(
  { client, onUnread }: Explaining,
  kind: Kind,
  key: { readonly name: string; readonly namespace?: string },
): Promise<KubeObject | 'unreadable' | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 401 && error.code !== 403)) throw error;
    onUnread(`${kind.kind} ${key.name}: ${error.message}`);
    return 'unreadable';
  }
}
