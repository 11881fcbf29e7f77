// One round: a random cluster runs in simulation; plans are made of it now and then, and what happens is held against
// them. Whatever a controller deletes was planned for that second; whatever was planned happens, unless somebody changed
// something since; what the garbage collector takes is what the plan said it would take.

import type { JsonObject } from '#api/json';
import type { KubeObject } from '#api/object';
import { type Instant, type Millis, millis, plus } from '#base/instant';
import { readGeneral } from '#cmd/configuration/general';
import { compileConfiguration } from '#cmd/configuration/schema';
import { Owners } from '#cmd/plan/cascade/read';
import { makePlan } from '#cmd/plan/makePlan';
import type { Plan } from '#cmd/plan/plan';
import { createSnapshot, readingFrom } from '#cmd/plan/snapshot';
import { FAMILIES } from '#controllers/registry';
import type { Change } from '#sim/history';
import { type Simulation, simulate } from '#sim/simulate';
import { standinsNamed } from '#standins/standins';
import { composeFamilies, findFamily } from './compose.ts';
import { Dice, drawWorld } from './planWorld.ts';

const NAMES = ['ttl-after-finished', 'ttl-policy', 'cleaner', 'object-keeper', 'request-ttl'];
const GATES = { TTLAfterFinishedPods: true };
const CONFIGURATION: JsonObject = { actAs: 'controller', objectKeeper: { follow: ['configmaps'] } };

const families = NAMES.map(findFamily);

function settings(): JsonObject {
  return compileConfiguration(FAMILIES).complete({ ...CONFIGURATION, featureGates: { ...GATES } }).document;
}

export async function planOf(simulation: Simulation, span: Millis): Promise<Plan> {
  const document = settings();
  const now = simulation.clock.now();
  simulation.user.discovery.invalidate();
  const served = await simulation.user.discovery.all();
  const owners = new Owners(served);
  return makePlan({
    snapshot: createSnapshot(served, readingFrom(simulation.user, { witness: owners })),
    owners,
    now,
    until: plus(now, span),
    cluster: 'simulation',
    general: readGeneral(document),
    document,
    known: FAMILIES,
    selected: families,
  });
}

export interface RoundOptions {
  readonly size: number;
  readonly plans: number;
}

/** What did not go as planned, in words; with a seed it can be seen again. */
export async function playPlans(seed: number, { size, plans }: RoundOptions): Promise<string[]> {
  const dice = new Dice(seed);
  let first: Plan | undefined;
  let drawn: KubeObject[] = [];
  const simulation = await simulate({
    compose: composeFamilies({ families, controllers: [], configuration: CONFIGURATION, gates: GATES }),
    kinds: [...new Set(families.flatMap(({ kinds }) => kinds))],
    standins: standinsNamed(['owner-gc']),
    seed,
    async prepare(world) {
      drawn = drawWorld(dice, world.clock.now(), size);
      for (const object of drawn)
        if (!(await world.server.importObject(object))) throw new Error(`${object.kind} is not served`);
      first = await planOf(world, DAY);
    },
  });
  try {
    const problems: string[] = [];
    let plan = first!;
    let since = 0;
    for (let i = 0; i < plans; i++) {
      // Seconds that no deadline shares: what falls on the border belongs to nobody.
      await simulation.timePasses(millis(dice.below(40) * 60_000 + 500));
      problems.push(...judge(plan, { since, drawn }, simulation));
      await act(simulation, dice, plan);
      since = simulation.changes.length;
      plan = await planOf(simulation, DAY);
    }
    await simulation.timePasses(millis(4 * HOUR));
    problems.push(...judge(plan, { since, drawn }, simulation));
    return problems;
  } finally {
    await simulation.close();
  }
}

const HOUR = 3_600_000;
const DAY: Millis = millis(24 * HOUR);

/** Somebody changes their mind about something that is planned. */
async function act(simulation: Simulation, dice: Dice, { ends }: Plan): Promise<void> {
  const now = simulation.clock.now();
  const waiting = ends.filter(({ at, object }) => at > now && ['Job', 'ConfigMap'].includes(object.kind));
  if (waiting.length === 0 || dice.chance(0.3)) return;
  const { object } = dice.pick(waiting);
  const ref = `${object.namespace}/${object.kind.toLowerCase()}/${object.name}`;
  if ((await simulation.get(ref)) === undefined) return;
  if (dice.chance(0.3)) await simulation.delete(ref);
  else
    await simulation.patch(ref, {
      metadata: { annotations: { 'lapse.dev/ttl': dice.pick(['never', '100m']) } },
    });
}

interface Deletion {
  readonly at: Instant;
  readonly by: Change['by'];
  readonly what: string;
}

/** The first word of each object's end since that change, by uid. */
function deletionsSince(since: number, { changes }: Simulation): Map<string, Deletion> {
  const deletions = new Map<string, Deletion>();
  for (const { at, by, kind, name, before, after } of changes.slice(since)) {
    const was = before?.metadata.deletionTimestamp !== undefined;
    const is = after === undefined || after.metadata.deletionTimestamp !== undefined;
    const uid = (before ?? after)?.metadata.uid ?? '';
    if (is && !was && !deletions.has(uid)) deletions.set(uid, { at, by, what: `${kind} ${name}` });
  }
  return deletions;
}

interface Expected {
  readonly at: number;
  readonly within: number;
  readonly propagation: string;
  readonly by: 'process' | 'stand-in';
  readonly what: string;
}

function expectedFrom({ ends, made }: Plan): Map<string, Expected> {
  const expected = new Map<string, Expected>();
  for (const end of ends) {
    const at = Math.max(end.at, made);
    // A keeper rounds the time at which it finds that the object is gone.
    const within = end.rule.includes('Follow') ? 2 * SECOND : SECOND;
    expected.set(end.object.uid, {
      at,
      within,
      propagation: end.propagation,
      by: 'process',
      what: `${end.object.kind} ${end.object.name} (${end.rule})`,
    });
    for (const { object } of end.takes)
      expected.set(object.uid, {
        at,
        within,
        propagation: 'as it goes',
        by: 'stand-in',
        what: `${object.kind} ${object.name} with ${end.object.kind} ${end.object.name}`,
      });
  }
  return expected;
}

/** Times of objects have whole seconds, and so has the next look that a status speaks of. */
const SECOND = 1000;

interface Known {
  /** How much had happened when the plan was made. */
  readonly since: number;
  readonly drawn: readonly KubeObject[];
}

/**
 * Objects with two owners that go in the same second (all that is overdue does), or with an owner that waits for what it
 * owns and is kept by somebody else's finalizer as well; and whatever they own. Which of two things happens first decides
 * about them, and that is chance.
 */
function contested(
  expected: ReadonlyMap<string, Expected>,
  drawn: readonly KubeObject[],
): ReadonlySet<string> {
  const found = new Set<string>();
  const kept = new Set(
    drawn
      .filter(({ metadata }) => metadata.finalizers?.includes('x.dev/hold'))
      .map(({ metadata }) => metadata.uid!)
      .filter((uid) => (expected.get(uid)?.propagation ?? 'Background') !== 'Background'),
  );
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { metadata } of drawn) {
      const owners = (metadata.ownerReferences ?? []).map(({ uid }) => uid);
      const times = [...new Set(owners)].flatMap((uid) => expected.get(uid)?.at ?? []).sort((a, b) => a - b);
      const isClose = times.some((at, i) => i > 0 && at - times[i - 1]! < SECOND);
      if (isClose || owners.some((uid) => found.has(uid) || kept.has(uid))) found.add(metadata.uid!);
    }
  }
  return found;
}

function goesWithOwner(
  uid: string,
  expected: ReadonlyMap<string, Expected>,
  drawn: readonly KubeObject[],
): boolean {
  const { ownerReferences = [] } = drawn.find(({ metadata }) => metadata.uid === uid)?.metadata ?? {};
  const at = expected.get(uid)?.at ?? 0;
  return ownerReferences.some((owner) => Math.abs((expected.get(owner.uid)?.at ?? 0) - at) < SECOND);
}

function judge(plan: Plan, { since, drawn }: Known, simulation: Simulation): string[] {
  const now = simulation.clock.now();
  const expected = expectedFrom(plan);
  const chance = contested(expected, drawn);
  const deletions = deletionsSince(since, simulation);
  const when = (at: number) => `+${((at - plan.made) / 60_000).toFixed(3)} min`;
  const problems: string[] = [];
  for (const [uid, { at, by, what }] of deletions) {
    if (by === 'user' || chance.has(uid)) continue;
    const planned = expected.get(uid);
    if (planned === undefined) problems.push(`not planned: ${what} at ${when(at)} by the ${by}`);
    else if (Math.abs(planned.at - at) >= planned.within)
      problems.push(`planned for ${when(planned.at)}: ${what} at ${when(at)}`);
    // Of what goes together with its owner in one second the collector is first, or the rule.
    else if (planned.by !== by && !goesWithOwner(uid, expected, drawn))
      problems.push(`planned for the ${planned.by}: ${what} by the ${by}`);
  }
  for (const [uid, { at, within, what }] of expected)
    if (at + within <= now && !deletions.has(uid) && !chance.has(uid))
      problems.push(`did not happen: ${what}, planned for ${when(at)}`);
  return problems;
}
