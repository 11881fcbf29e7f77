// A plan from what families foresee: the earliest end of each object, what goes with it, and what is held. Families that
// follow other objects (keepers) are asked again until nothing new is known.

import type { Instant } from '#base/instant';
import type { Ends, Holds, ObjectName } from '#controllers/foresight';
import { Cascade } from './cascade/cascade.ts';
import type { Ownership } from './cascade/ownership.ts';
import type { Owners } from './cascade/read.ts';
import { type Foretold, foretell, type Setting } from './foretell.ts';
import type { Change, Held, Plan, PlannedEnd } from './plan.ts';

export interface PlanOptions extends Setting {
  readonly until: Instant;
  /** How people know it. */
  readonly cluster: string;
  /** Set: only what is in this namespace, or takes something of it along, is of interest. */
  readonly view?: string;
  /** Unset: only the objects themselves. What it has seen need not be read again. */
  readonly owners?: Owners;
}

type ForetoldEnd = Ends & { readonly family: string };

/** What was said, by who says it. */
interface Said {
  readonly ends: ForetoldEnd[];
  readonly held: (Holds & { readonly family: string })[];
  readonly changes: Change[];
}

/** Keepers of keepers of keepers: nobody has more. */
const MOST_ROUNDS = 8;

export async function makePlan(options: PlanOptions): Promise<Plan> {
  const { now, until, cluster, selected } = options;
  const unread = new Set<string>();
  const onUnread = (what: string) => void unread.add(what);
  const [first, followers] = split(selected);
  const said = await listen(foretell(options, first, () => undefined, onUnread));
  let following = await listen(foretell(options, followers, () => undefined, onUnread));
  let ownership: Ownership | undefined;
  let settled: Settled;
  for (let round = 0; ; round++) {
    const foretold = [...said.ends, ...following.ends];
    ownership ??= await readOwnership(foretold, options, onUnread);
    settled = settle(foretold, options, ownership);
    if (followers.length === 0 || round === MOST_ROUNDS) break;
    const { cascade } = settled;
    // What is overdue goes now: nobody sees it go earlier.
    const endOf = (uid: string) =>
      cascade.keptBy(uid).length > 0 ? undefined : laterOf(cascade.endOf(uid), now);
    const before = following.ends;
    following = await listen(foretell(options, followers, endOf, onUnread));
    if (isSame(before, following.ends)) break;
  }
  const { more, cascade } = settled;
  const isSeen = seenFrom(options.view);
  const ends = settled.ends.filter((end) => isSeen(end) || end.takes.some(isSeen));
  const held = [...said.held, ...following.held].filter(
    (one) => isSeen(one) && cascade.endOf(one.object.uid) === undefined,
  );
  const changes = [...said.changes, ...following.changes].filter((one) => one.at <= until && isSeen(one));
  return {
    made: now,
    until,
    cluster,
    ends,
    held: held.map(heldOf),
    more,
    ...(changes.length === 0 ? {} : { changes: changes.sort((a, b) => a.at - b.at) }),
    ...(unread.size === 0 ? {} : { unread: [...unread] }),
  };
}

/** Only when something ends. */
async function readOwnership(
  foretold: readonly ForetoldEnd[],
  { owners, snapshot, until }: PlanOptions,
  onUnread: (what: string) => void,
): Promise<Ownership | undefined> {
  const ends = foretold.filter(({ at }) => at <= until);
  return ends.length === 0 ? undefined : owners?.read(snapshot, namespacesIn(ends), onUnread);
}

/** Whether followers say what they said before. */
function isSame(before: readonly ForetoldEnd[], after: readonly ForetoldEnd[]): boolean {
  const known = new Map(before.map(({ object, at }) => [object.uid, at]));
  return before.length === after.length && after.every(({ object, at }) => known.get(object.uid) === at);
}

const seenFrom =
  (view: string | undefined) =>
  ({ object }: { readonly object: ObjectName }): boolean =>
    view === undefined || object.namespace === view;

const laterOf = (end: Instant | undefined, now: Instant): Instant | undefined =>
  end === undefined || end > now ? end : now;

const split = (families: Setting['selected']) => {
  const follows = families.filter(({ foresight }) => foresight?.followsOthers === true);
  return [families.filter((family) => !follows.includes(family)), follows] as const;
};

async function listen(foretold: AsyncIterable<Foretold>): Promise<Said> {
  const said: Said = { ends: [], held: [], changes: [] };
  for await (const { family, statement } of foretold)
    switch (statement.kind) {
      case 'ends':
        said.ends.push({ ...statement, family });
        break;
      case 'held':
        said.held.push({ ...statement, family });
        break;
      case 'changes': {
        const { at, object, rule, because } = statement;
        said.changes.push({ at, object, family, rule, because });
        break;
      }
      case 'stays':
        break;
    }
  return said;
}

const heldOf = ({ object, family, rule, because, until }: Holds & { family: string }): Held => ({
  object,
  family,
  rule,
  because,
  ...(until === undefined ? {} : { until }),
});

const namespacesIn = (ends: readonly ForetoldEnd[]): ReadonlySet<string> =>
  new Set(
    ends
      .filter(({ object }) => object.apiVersion === 'v1' && object.kind === 'Namespace')
      .map(({ object }) => object.name),
  );

interface Settled {
  readonly ends: readonly PlannedEnd[];
  readonly more: number;
  readonly cascade: Cascade;
}

/** In the order of time: whoever is gone by then, by an earlier rule or with its owner, does not end again. */
function settle(
  foretold: readonly ForetoldEnd[],
  { until, view }: Pick<PlanOptions, 'until' | 'view'>,
  ownership: Ownership | undefined,
): Settled {
  const cascade = new Cascade(ownership);
  const ends: PlannedEnd[] = [];
  const later = new Set<string>();
  const isSeen = seenFrom(view);
  const sorted = [...foretold].sort((a, b) => a.at - b.at);
  for (let from = 0; from < sorted.length; ) {
    const { at } = sorted[from]!;
    let to = from;
    while (sorted[to]?.at === at) to++;
    const now = withoutGone(sorted.slice(from, to), cascade);
    from = to;
    if (at > until) for (const { object } of now.filter(isSeen)) later.add(object.uid);
    else {
      // What ends by itself in this instant does not go with its owner.
      for (const end of now) cascade.mark(end);
      for (const end of now) ends.push(plannedEnd(end, cascade));
    }
  }
  return { ends, more: later.size, cascade };
}

/** Each object once. */
function withoutGone(ends: readonly ForetoldEnd[], cascade: Cascade): ForetoldEnd[] {
  const seen = new Set<string>();
  return ends.filter(({ object: { uid } }) => {
    const isNew = cascade.endOf(uid) === undefined && !seen.has(uid);
    seen.add(uid);
    return isNew;
  });
}

function plannedEnd(end: ForetoldEnd, cascade: Cascade): PlannedEnd {
  const { at, object, family, rule } = end;
  const keptBy = cascade.keptBy(object.uid);
  const then = keptBy.length === 0 ? '' : `; the finalizer ${keptBy.join(', ')} keeps it then`;
  const because = `${end.because}${then}`;
  return { at, object, family, rule, because, ...cascade.delete(end) };
}
