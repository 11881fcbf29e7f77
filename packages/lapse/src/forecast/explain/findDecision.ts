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
import { evaluateRules } from './evaluateRules.ts';
import type { Decision, RuleDecision } from './explanation.ts';
import type { RuleContext } from './ruleContext.ts';

export interface ExplainContext extends RuleContext {
  readonly client: Pick<Client, 'get'>;
}

/** What is known about one object before it is explained. */
export interface ObjectDecision {
  readonly object: ObjectName;
  /** An owner that is kept, so that the garbage collector keeps the object. */
  readonly keeper?: ObjectName;
  readonly ruleDecisions: readonly RuleDecision[];
  readonly decision: Decision;
}

/** Limit of the ownership depth. Real clusters have less. */
const MOST_STEPS = 8;

type Path = readonly string[];

export async function findDecision(
  context: ExplainContext,
  kind: Kind,
  found: KubeObject,
  path: Path = [],
): Promise<ObjectDecision> {
  const object = nameOf(kind, found);
  const steps = [...path, object.uid];
  const { deletionTimestamp, finalizers = [] } = found.metadata;
  const ruleDecisions = await evaluateRules(context, object, await endsOfFollowed(context, found, steps));
  if (deletionTimestamp !== undefined) {
    const since = parseTime(deletionTimestamp);
    return { object, ruleDecisions, decision: { kind: 'terminating', since, finalizers } };
  }
  const owners = await withOwners(context, found, steps);
  const home = await withNamespace(context, found, steps);
  const company = [owners?.kind === 'deletedWith' ? owners : undefined, home].flatMap((one) => one ?? []);
  const keeper = owners?.kind === 'keeper' ? { keeper: owners.object } : {};
  return { object, ruleDecisions, decision: decide(ruleDecisions, company), ...keeper };
}

/** The earliest deletion counts. Otherwise what holds it. Otherwise why it is kept. */
function decide(ruleDecisions: readonly RuleDecision[], company: readonly Decision[]): Decision {
  const own = ruleDecisions.flatMap((by): Decision[] =>
    by.says === 'deleted' && by.at !== undefined ? [{ kind: 'deleted', at: by.at, by }] : [],
  );
  const [earliest] = [...own, ...company].sort((a, b) => timeOf(a) - timeOf(b));
  if (earliest !== undefined) return earliest;
  const said = (what: RuleDecision['says']) => ruleDecisions.filter(({ says }) => says === what);
  const [held] = said('held');
  if (held !== undefined) return { kind: 'held', by: held };
  const [change] = said('changes').sort((a, b) => a.at! - b.at!);
  if (change !== undefined) return { kind: 'changes', at: change.at!, by: change };
  const [stays] = said('kept');
  return stays === undefined ? { kind: 'noRule' } : { kind: 'kept', by: stays };
}

const timeOf = (decision: Decision): number =>
  decision.kind === 'deleted' || decision.kind === 'deletedWith' ? decision.at : Number.POSITIVE_INFINITY;

/** When an object is deleted, as far as is known. */
function deletedAt({ decision }: ObjectDecision, now: Instant): Instant | undefined {
  if (decision.kind === 'terminating') return now;
  return decision.kind === 'deleted' || decision.kind === 'deletedWith'
    ? laterOf(decision.at, now)
    : undefined;
}

/** When it no longer exists. Undefined with a foreign finalizer, because the time of its removal is unknown. */
const goneAt = (found: ObjectDecision, { metadata }: KubeObject, now: Instant): Instant | undefined =>
  foreignFinalizers(metadata.finalizers).length > 0 ? undefined : deletedAt(found, now);

/**
 * When its dependents are deleted: before it in the foreground, after it in the background, never when they are
 * orphaned.
 */
function releasedAt(found: ObjectDecision, owner: KubeObject, now: Instant): Instant | undefined {
  const { decision } = found;
  const { finalizers = [] } = owner.metadata;
  const manner = decision.kind === 'deleted' ? decision.by.propagation : undefined;
  const isDeleted = decision.kind === 'terminating';
  if (manner === 'Orphan' || (isDeleted && finalizers.includes(ORPHAN))) return undefined;
  const isFirst = manner === 'Foreground' || (isDeleted && finalizers.includes(FOREGROUND));
  return isFirst ? deletedAt(found, now) : goneAt(found, owner, now);
}

/** An overdue object is deleted now, not in the past. */
const laterOf = (at: Instant, now: Instant): Instant => instant(Math.max(at, now));

export const foreignFinalizers = (finalizers: readonly string[] = []): string[] =>
  finalizers.filter((finalizer) => finalizer !== FOREGROUND && finalizer !== ORPHAN);

type DeletedWith = Extract<Decision, { kind: 'deletedWith' }>;
type Owned = DeletedWith | { readonly kind: 'keeper'; readonly object: ObjectName };

/** The garbage collector deletes objects that have lost all their owners. */
async function withOwners(
  context: ExplainContext,
  found: KubeObject,
  path: Path,
): Promise<Owned | undefined> {
  const { ownerReferences = [], namespace } = found.metadata;
  if (ownerReferences.length === 0 || path.length > MOST_STEPS) return undefined;
  let last: DeletedWith | undefined;
  for (const reference of ownerReferences) {
    const end = await endOfOwner(context, reference, namespace, path);
    if (end === undefined || end.kind === 'keeper') return end;
    if (last === undefined || end.at > last.at) last = end;
  }
  return last;
}

/** Undefined: unknown. */
async function endOfOwner(
  context: ExplainContext,
  { apiVersion, kind: kindName, name, uid }: OwnerReference,
  namespace: string | undefined,
  path: Path,
): Promise<Owned | undefined> {
  const { served, now } = context;
  const kind = served.find((one) => apiVersionOf(one) === apiVersion && one.kind === kindName);
  if (kind === undefined || path.includes(uid)) return undefined;
  const home = kind.namespaced && namespace !== undefined ? { namespace } : {};
  const owner = await readIfAllowed(context, kind, { ...home, name });
  if (owner === 'unreadable') return undefined;
  const what: ObjectName = { apiVersion, kind: kindName, ...home, name, uid };
  if (owner === undefined || owner.metadata.uid !== uid)
    return { kind: 'deletedWith', at: now, what, how: 'lost', because: 'does not exist' };
  const result = await findDecision(context, kind, owner, path);
  const at = releasedAt(result, owner, now);
  return at === undefined
    ? { kind: 'keeper', object: what }
    : { kind: 'deletedWith', at, what, how: 'owner', because: describeDeletion(result.decision) };
}

/** All objects in a namespace are deleted with it. */
async function withNamespace(
  context: ExplainContext,
  found: KubeObject,
  path: Path,
): Promise<Decision | undefined> {
  const { namespace } = found.metadata;
  if (namespace === undefined || namespace === '' || path.length > MOST_STEPS) return undefined;
  const home = await readIfAllowed(context, Namespace as Kind, { name: namespace });
  if (home === undefined || home === 'unreadable') return undefined;
  const result = await findDecision(context, Namespace as Kind, home, path);
  // Its contents are deleted first, even if a finalizer keeps the namespace itself.
  const at = deletedAt(result, context.now);
  if (at === undefined) return undefined;
  return {
    kind: 'deletedWith',
    at,
    what: result.object,
    how: 'namespace',
    because: describeDeletion(result.decision),
  };
}

/** Why another object is deleted, as a phrase after its name. */
function describeDeletion(decision: Decision): string {
  if (decision.kind === 'deleted') {
    const { because, rule } = decision.by;
    return `is deleted: ${because}${because.includes(rule) ? '' : ` (${rule})`}`;
  }
  if (decision.kind === 'deletedWith')
    return `is deleted with ${decision.what.kind} ${decision.what.name}, which ${decision.because}`;
  return 'is terminating';
}

/** A keeper is deleted with the object that it follows, so that object is explained first. */
async function endsOfFollowed(
  context: ExplainContext,
  found: KubeObject,
  path: Path,
): Promise<(uid: string) => Instant | undefined> {
  const { followObjectRef: ref } = (found as ObjectKeeper).spec ?? {};
  const isKeeper = found.apiVersion === apiVersionOf(ObjectKeeper) && found.kind === ObjectKeeper.kind;
  if (!isKeeper || ref === undefined || path.length > MOST_STEPS || path.includes(ref.uid))
    return () => undefined;
  const kind = context.served.find((one) => apiVersionOf(one) === ref.apiVersion && one.kind === ref.kind);
  if (kind === undefined) return () => undefined;
  const home = kind.namespaced ? { namespace: ref.namespace } : {};
  const followed = await readIfAllowed(context, kind, { ...home, name: ref.name });
  if (followed === undefined || followed === 'unreadable' || followed.metadata.uid !== ref.uid)
    return () => undefined;
  const at = goneAt(await findDecision(context, kind, followed, path), followed, context.now);
  return (uid) => (uid === ref.uid ? at : undefined);
}

/** An owner that may not be read is reported, and the explanation continues. */
async function readIfAllowed(
  { client, onUnread }: ExplainContext,
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
