// Builds a plan from the forecasts of the families: the earliest deletion of each object, its dependents, and what is
// held. Families that follow other objects (keepers) are evaluated again until nothing changes.

import type { Instant } from '@lapse/base/instant';
import type { DeletedStatement, HeldStatement, ObjectName } from '#controllers/forecaster';
import { Cascade, type Deletion, type Dependents } from './cascade/cascade.ts';
import type { Ownership } from './cascade/ownership.ts';
import type { Owners } from './cascade/read.ts';
import {
  collectForecasts,
  type Forecast,
  type KnownDeletions,
  NOTHING_KNOWN,
  type Setting,
} from './forecast.ts';
import type { Change, Held, Plan, PlannedDeletion } from './plan.ts';
import { computeRefusal } from './refusal.ts';

export interface PlanOptions extends Setting {
  readonly until: Instant;
  /** The cluster's name for display. */
  readonly cluster: string;
  /** If set, the plan contains only deletions in this namespace, or that include objects in it. */
  readonly view?: string;
  /** Undefined: only the objects themselves. Sources it has already seen are not read again. */
  readonly owners?: Owners;
}

type ForecastDeletion = DeletedStatement & { readonly family: string };

/** Statements with their family. */
interface Said {
  /** Within the horizon. */
  readonly deletions: ForecastDeletion[];
  /** Uids of objects that are deleted later. They are only counted. */
  readonly later: Set<string>;
  readonly held: (HeldStatement & { readonly family: string })[];
  readonly changes: Change[];
}

/** Limit of the depth of keepers that follow keepers. Real clusters have less. */
const MOST_ROUNDS = 8;

export async function makePlan(options: PlanOptions): Promise<Plan> {
  const { now, until, cluster, selected } = options;
  const unread = new Set<string>();
  const onUnread = (what: string) => void unread.add(what);
  const [first, followers] = split(selected);
  const said = await listen(collectForecasts(options, first, NOTHING_KNOWN, onUnread), options);
  let following = await listen(collectForecasts(options, followers, NOTHING_KNOWN, onUnread), options);
  let ownership: Ownership | undefined;
  let settled: Settled;
  for (let round = 0; ; round++) {
    const forecastDeletions = [...said.deletions, ...following.deletions];
    if (forecastDeletions.length > 0) ownership ??= await readOwnership(forecastDeletions, options, onUnread);
    settled = settle(forecastDeletions, now, ownership);
    if (followers.length === 0 || round === MOST_ROUNDS) break;
    const before = following.deletions;
    following = await listen(
      collectForecasts(options, followers, knownDeletionsOf(settled.cascade, now), onUnread),
      options,
    );
    if (isSame(before, following.deletions)) break;
  }
  const { cascade } = settled;
  const isSeen = seenFrom(options.view);
  const isLeft = (uid: string) => cascade.endOf(uid) === undefined;
  const deletions = settled.deletions.filter((end) => isSeen(end) || end.dependents.some(isSeen));
  const held = [...said.held, ...following.held, ...settled.refused].filter(
    (one) => isSeen(one) && isLeft(one.object.uid),
  );
  const changes = [...said.changes, ...following.changes].filter(isSeen);
  const later = new Set([...said.later, ...following.later]);
  return {
    made: now,
    until,
    cluster,
    deletions,
    held: held.map(heldOf),
    more: [...later].filter(isLeft).length,
    ...(changes.length === 0 ? {} : { changes: changes.sort((a, b) => a.at - b.at) }),
    ...(unread.size === 0 ? {} : { unread: [...unread] }),
  };
}

/** An overdue object is deleted now, not in the past. */
function knownDeletionsOf(cascade: Cascade, now: Instant): KnownDeletions {
  const notBefore = (at: Instant | undefined) => (at === undefined ? undefined : laterOf(at, now));
  return {
    endOf: (uid) => notBefore(cascade.lastOf(uid).certain),
    mayEndAt: (uid) => notBefore(cascade.lastOf(uid).uncertain),
  };
}

/** Read only if something is deleted. */
async function readOwnership(
  deletions: readonly ForecastDeletion[],
  { owners, snapshot }: PlanOptions,
  onUnread: (what: string) => void,
): Promise<Ownership | undefined> {
  return owners?.read(snapshot, namespacesIn(deletions), onUnread);
}

/** Whether followers return the same result as before. */
function isSame(before: readonly ForecastDeletion[], after: readonly ForecastDeletion[]): boolean {
  const textOf = ({ object, at, uncertain }: ForecastDeletion) => `${object.uid} ${at} ${uncertain === true}`;
  const known = new Set(before.map(textOf));
  return before.length === after.length && after.every((end) => known.has(textOf(end)));
}

const seenFrom =
  (view: string | undefined) =>
  ({ object }: { readonly object: ObjectName }): boolean =>
    view === undefined || object.namespace === view;

const laterOf = (end: Instant, now: Instant): Instant => (end > now ? end : now);

const split = (families: Setting['selected']) => {
  const follows = families.filter(({ forecaster }) => forecaster?.followsOthers === true);
  return [families.filter((family) => !follows.includes(family)), follows] as const;
};

async function listen(
  forecastDeletions: AsyncIterable<Forecast>,
  { until, view }: Pick<PlanOptions, 'until' | 'view'>,
): Promise<Said> {
  const said: Said = { deletions: [], later: new Set(), held: [], changes: [] };
  const isSeen = seenFrom(view);
  for await (const { family, statement } of forecastDeletions)
    switch (statement.kind) {
      case 'deleted':
        if (statement.at <= until) said.deletions.push({ ...statement, family });
        else if (isSeen(statement)) said.later.add(statement.object.uid);
        break;
      case 'held':
        said.held.push({ ...statement, family });
        break;
      case 'changes': {
        const { at, object, rule, because } = statement;
        if (at <= until) said.changes.push({ at, object, family, rule, because });
        break;
      }
      case 'kept':
        break;
    }
  return said;
}

const heldOf = ({
  object,
  family,
  rule,
  because,
  reason,
  until,
}: HeldStatement & { family: string }): Held => ({
  object,
  family,
  rule,
  because,
  ...(reason === undefined ? {} : { reason }),
  ...(until === undefined ? {} : { until }),
});

const namespacesIn = (deletions: readonly ForecastDeletion[]): ReadonlySet<string> =>
  new Set(
    deletions
      .filter(({ object }) => object.apiVersion === 'v1' && object.kind === 'Namespace')
      .map(({ object }) => object.name),
  );

interface Settled {
  readonly deletions: readonly PlannedDeletion[];
  /** Deletions that the API server will refuse. */
  readonly refused: readonly (HeldStatement & { readonly family: string })[];
  readonly cascade: Cascade;
}

/**
 * Processes deletions in the order of time. An object that was already deleted, by an earlier rule or with its
 * owner, is skipped.
 */
function settle(
  forecastDeletions: readonly ForecastDeletion[],
  now: Instant,
  ownership: Ownership | undefined,
): Settled {
  const cascade = new Cascade(ownership);
  const deletions: PlannedDeletion[] = [];
  const refused: Settled['refused'][number][] = [];
  const isCarriedOut = (end: ForecastDeletion): boolean => {
    const refusal = computeRefusal(end, ownership);
    if (refusal === undefined) return true;
    const { object, family, rule, because } = end;
    refused.push({ kind: 'held', object, family, rule, because: `${refusal}; ${because}` });
    return false;
  };
  const sorted = forecastDeletions.filter(isCarriedOut).sort((a, b) => a.at - b.at);
  for (let from = 0; from < sorted.length; ) {
    // Everything overdue is deleted at once.
    const at = laterOf(sorted[from]!.at, now);
    let to = from + 1;
    while (to < sorted.length && sorted[to]!.at <= at) to++;
    // An object with its own rule at this time is not listed with its owner.
    const together = withoutGone(sorted, from, to, cascade);
    const dependents = cascade.deleteTogether(together);
    for (let i = 0; i < together.length; i++)
      deletions.push(plannedDeletion(together[i]!, dependents[i]!, cascade));
    from = to;
  }
  return { deletions, refused, cascade };
}

/** The deletions from `from` to `to`, each object once. If two rules delete it, either may be first. */
function withoutGone(
  deletions: readonly ForecastDeletion[],
  from: number,
  to: number,
  cascade: Cascade,
): (ForecastDeletion & Deletion)[] {
  const left = new Map<string, ForecastDeletion & Deletion>();
  for (let i = from; i < to; i++) {
    const end = deletions[i]!;
    const { uid } = end.object;
    if (cascade.endOf(uid) !== undefined) continue;
    const known = left.get(uid);
    if (known === undefined) left.set(uid, end);
    else {
      const competing = [...(known.competing ?? []), end.propagation];
      left.set(uid, { ...known, competing, uncertain: known.uncertain === true && end.uncertain === true });
    }
  }
  return [...left.values()];
}

function plannedDeletion(end: ForecastDeletion, dependents: Dependents, cascade: Cascade): PlannedDeletion {
  const { at, object, family, rule, uncertain } = end;
  const keptBy = cascade.keptBy(object.uid);
  const then = keptBy.length === 0 ? '' : `; the finalizer ${keptBy.join(', ')} keeps it then`;
  const because = `${end.because}${then}`;
  return { at, object, family, rule, because, ...dependents, ...(uncertain === true ? { uncertain } : {}) };
}
