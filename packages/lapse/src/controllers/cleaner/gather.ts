// Collects what a decision needs: first from the caches, where the objects that conditions read are watched, then, before
// a deletion, everything from the API server with the rights that will be used.

import type { Discovery } from '@lapse/kube/client/discovery';
import type { DynamicView } from '@lapse/runtime/reconcileContext';
import { Cleaner } from '#api/cleaner';
import { type AuthorizedClient, describeError } from '#authors/authorizedClient';
import { type ReleasePlan, readPlan } from '#helm/readPlan';
import { APPROVAL_ANNOTATION } from '#limits/approval';
import { type ConditionResult, evaluate } from './conditions.ts';
import { generationOf, type Scope } from './context.ts';
import { computeObstacle, type Obstacle } from './decide.ts';
import { type Kinds, type Resolved, resolveKinds } from './kinds.ts';
import { refusalToDecide } from './rights.ts';
import { isDecisive, type Meaning, type Target } from './spec.ts';
import {
  bindingsOf,
  boundCount,
  type Found,
  fingerprint,
  fromCache,
  fromServer,
  MOST_BOUND,
} from './targets.ts';
import { isFresh, isNewsOfDefinitions, kindId, type Watching, watch } from './watches.ts';

export interface Gathered {
  readonly kind: 'gathered';
  /** Unchanged as long as none of the watched objects changes. */
  readonly basis: string;
  readonly resolved: readonly Resolved[];
  /** The objects of included targets in the caches. */
  readonly cached: readonly Found[];
  /** Included targets that may not be watched. Changes of their objects trigger nothing. */
  readonly unwatched: readonly Resolved[];
}

export type Gathering =
  | { readonly kind: 'refused'; readonly why: string }
  /** `soon`: the CRD was created a moment ago. */
  | { readonly kind: 'unserved'; readonly why: string; readonly basis: string; readonly soon: boolean }
  /** Evaluation must wait until the API server answers. `why`: the cause of the delay, if known. */
  | { readonly kind: 'unsynced'; readonly why?: string }
  | Gathered;

export async function gather(scope: Scope, meaning: Meaning): Promise<Gathering> {
  const { ctx, context, cleaner } = scope;
  const { discovery } = context.client;
  const { kinds, watching } = await resolveAndWatch(scope, meaning);
  const [refused] = kinds.refused.filter(({ target }) => isDecisive(target));
  if (refused !== undefined) return { kind: 'refused', why: `target ${refused.target.name}: ${refused.why}` };
  const unavailable = await unavailableGroup(discovery, kinds);
  if (unavailable !== undefined) return { kind: 'unsynced', why: unavailable };
  const views = kinds.resolved
    .filter(({ target }) => target.included)
    .map((resolved): Viewed => ({ resolved, view: watching.views.get(kindId(resolved.kind))! }));
  // Discovery may still list kinds that the watch reports as removed.
  const gone = views.filter(({ view }) => view.status.problem?.kind === 'notServed');
  const unserved = [
    ...kinds.unserved.filter((target) => target.included),
    ...gone.map(({ resolved }) => resolved.target),
  ];
  if (unserved.length > 0)
    return describeUnserved(unserved, generationOf(cleaner), isFresh(context, unserved, ctx.now));
  const unsynced = views.filter(({ view }) => !isForbidden(view) && !view.status.synced);
  if (unsynced.length > 0) return describeUnsynced(unsynced);
  return gatherCached(scope, kinds.resolved, views);
}

interface Viewed {
  readonly resolved: Resolved;
  readonly view: DynamicView;
}

async function resolveAndWatch(
  { ctx, context }: Scope,
  { targets }: Meaning,
): Promise<{ readonly kinds: Kinds; readonly watching: Watching }> {
  const { discovery } = context.client;
  const kinds = await resolveKinds(discovery, targets);
  const watching = watch(ctx, context, kinds);
  if (!isNewsOfDefinitions(context, watching, kinds, ctx.now)) return { kinds, watching };
  discovery.invalidate();
  const renewed = await resolveKinds(discovery, targets);
  return { kinds: renewed, watching: watch(ctx, context, renewed) };
}

/** A kind that is not found may exist if discovery of its group is stale or failed. */
async function unavailableGroup(discovery: Discovery, { unserved }: Kinds): Promise<string | undefined> {
  for (const { name, reference } of unserved.filter(isDecisive)) {
    const { apiGroup: group = '', kind } = reference;
    if (await discovery.isUnavailable(group))
      return `target ${name}: API group ${group} is unavailable, so it is unknown whether ${kind} is served; check its APIService`;
  }
  return undefined;
}

function describeUnsynced(views: readonly Viewed[]): Gathering {
  const failing = views.find(({ view }) => view.status.problem !== undefined);
  if (failing === undefined) return { kind: 'unsynced' };
  const { resolved, view } = failing;
  const { group, resource } = resolved.kind;
  const what = group === '' ? resource : `${resource}.${group}`;
  return { kind: 'unsynced', why: `${what} cannot be listed: ${describeError(view.status.problem!.error)}` };
}

const isForbidden = ({ status }: DynamicView): boolean => status.problem?.kind === 'forbidden';

function describeUnserved(targets: readonly Target[], generation: number, soon: boolean): Gathering {
  const names = targets.map(
    ({ name, reference }) => `${reference.kind}.${reference.apiGroup ?? ''} (${name})`,
  );
  return {
    kind: 'unserved',
    why: `the server does not serve ${names.join(', ')}`,
    basis: `unserved;${generation};${names.join()};${soon}`,
    soon,
  };
}

function gatherCached(
  { ctx, cleaner }: Scope,
  resolved: readonly Resolved[],
  views: readonly Viewed[],
): Gathered {
  const namespace = ctx.key.namespace ?? '';
  const cached: Found[] = [];
  const unwatched: Resolved[] = [];
  for (const { resolved: one, view } of views)
    if (isForbidden(view)) unwatched.push(one);
    else cached.push(fromCache(one, view, namespace, Math.max(0, MOST_BOUND - boundCount(cached))));
  const approval = cleaner.metadata.annotations?.[APPROVAL_ANNOTATION] ?? '';
  const basis = `${fingerprint(generationOf(cleaner), cached)};${unwatched.length};${approval}`;
  return { kind: 'gathered', basis, resolved, cached, unwatched };
}

/** The objects of all included targets. `forbidden`: why those that cannot be watched cannot be read either. */
export async function readUnwatched(
  { ctx, context }: Scope,
  { cached, unwatched }: Gathered,
  client: AuthorizedClient,
): Promise<{ readonly seen: readonly Found[]; readonly forbidden?: string }> {
  const seen = [...cached];
  for (const one of unwatched) {
    const read = await fromServer(client, one, ctx.key.namespace ?? '', context.options.bindSecretData);
    if (read.kind !== 'read')
      return { seen, forbidden: read.kind === 'forbidden' ? read.why : `${one.kind.kind} is not served` };
    seen.push(read.value);
  }
  return { seen };
}

/**
 * Targets that conditions do not read, for display. Objects that the actor may not read, or that cannot be read now,
 * are left out.
 */
export async function readOthers(
  namespace: string,
  { resolved }: Gathered,
  client: AuthorizedClient,
): Promise<Found[]> {
  const read = async (one: Resolved): Promise<Found[]> => {
    const { name } = one.target.reference;
    const key = { namespace, ...(name ? { name } : {}) };
    if ((await client.refusalTo(name ? 'get' : 'list', one.kind, key)) !== undefined) return [];
    const found = await fromServer(client, one, namespace, false);
    return found.kind === 'read' ? [found.value] : [];
  };
  const others = resolved.filter(({ target }) => !target.included);
  const results = await Promise.allSettled(others.map(read));
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
}

/** What the API server shows once all conditions are true in the caches. */
export type Confirmed =
  | { readonly kind: 'obstacle'; readonly obstacle: Obstacle }
  | {
      readonly kind: 'evaluated';
      readonly found: readonly Found[];
      readonly conditionResult: ConditionResult;
      /** Set if all conditions are true and a release is to be deleted. */
      readonly plan?: ReleasePlan;
    };

export async function confirm(
  scope: Scope,
  meaning: Meaning,
  resolved: readonly Resolved[],
  client: AuthorizedClient,
): Promise<Confirmed> {
  const { ctx, cleaner } = scope;
  const { namespace = '', name: self = '' } = cleaner.metadata;
  const refusal = await refusalToDecide(client, meaning, resolved, namespace);
  if (refusal !== undefined) return obstacle('Forbidden', refusal);
  const found = await readTargets(scope, resolved, client);
  if ('kind' in found) return found;
  const problem = computeObstacle(found);
  if (problem !== undefined) return { kind: 'obstacle', obstacle: problem };
  const conditionResult = await evaluate(meaning.conditions, bindingsOf(found), ctx.now);
  if (conditionResult.result !== 'true' || meaning.release === undefined)
    return { kind: 'evaluated', found, conditionResult };
  const release = { name: meaning.release, namespace };
  const options = { except: { ...Cleaner, name: self }, now: ctx.now, targets: found };
  return { kind: 'evaluated', found, conditionResult, plan: await readPlan(client, release, options) };
}

const obstacle = (reason: Obstacle['reason'], message: string): Confirmed => ({
  kind: 'obstacle',
  obstacle: { reason, message },
});

/** All objects that conditions read or that are to be deleted, read from the API server. */
async function readTargets(
  { ctx, context }: Scope,
  resolved: readonly Resolved[],
  client: AuthorizedClient,
): Promise<Found[] | Confirmed> {
  const found: Found[] = [];
  for (const one of resolved) {
    if (!isDecisive(one.target)) continue;
    if (boundCount(found) > MOST_BOUND) break;
    const read = await fromServer(client, one, ctx.key.namespace ?? '', context.options.bindSecretData);
    if (read.kind === 'forbidden') return obstacle('Forbidden', read.why);
    if (read.kind === 'read') found.push(read.value);
    else if (one.target.included) return obstacle('KindNotServed', `${one.kind.kind} is not served any more`);
  }
  return found;
}
