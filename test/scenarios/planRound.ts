// One round: a random cluster runs in simulation, and plans made from time to time are compared with what happens. Each
// deletion by a controller was planned for that second. Each planned deletion happens, except after a change by a user.
// The garbage collector deletes what the plan listed.

import { type Instant, type Millis, millis, plus } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import type { Change } from '@lapse/simulation/history';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import { FAMILIES } from 'lapse/controllers/registry';
import { Owners } from 'lapse/forecast/cascade/read';
import { makePlan } from 'lapse/forecast/makePlan';
import type { Plan } from 'lapse/forecast/plan';
import { createSnapshot, readingFrom } from 'lapse/forecast/snapshot';
import { readGeneral } from 'lapse/manager/configuration/general';
import { compileConfiguration } from 'lapse/manager/configuration/schema';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { composeFamilies, findFamily } from './compose.ts';
import { bringLate, drawLatePolicy } from './planLateKind.ts';
import { drawRequest, drawRequests, newsIn } from './planRequests.ts';
import { Dice, drawWorld } from './planWorld.ts';

/** All except storage-pool, which deletes nothing: it forecasts changes of a node list. */
const NAMES = FAMILIES.map(({ name }) => name).filter((name) => name !== 'storage-pool');
/** Simulated controllers that create the objects to be deleted. */
const SIMULATED_CONTROLLERS = [
  'owner-gc',
  'pv-binder',
  'csi-provisioner',
  'snapshot-controller',
  'csi-snapshotter',
];
const GATES = { TTLAfterFinishedPods: true };
const CONFIGURATION: JsonObject = {
  actAs: 'controller',
  objectKeeper: { follow: ['configmaps'] },
  // Longer than many of the pauses between plans, so that a plan contains completed requests.
  requestTTL: { ttl: '30m' },
};

const families = NAMES.map(findFamily);

function settings(more: JsonObject): JsonObject {
  const configuration = { ...CONFIGURATION, ...more, featureGates: { ...GATES } };
  return compileConfiguration(FAMILIES).complete(configuration).document;
}

export async function planOf(simulation: Simulation, span: Millis, more: JsonObject = {}): Promise<Plan> {
  const document = settings(more);
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
  /** Many deletions fall on the same instant. */
  readonly crowded?: boolean;
}

/** Deviations from the plan as text. The seed reproduces them. */
export async function runPlans(seed: number, options: RoundOptions): Promise<string[]> {
  const { size, plans, crowded = false } = options;
  const dice = new Dice(seed);
  let first: Plan | undefined;
  let drawn: KubeObject[] = [];
  const simulation = await simulate({
    compose: composeFamilies({ families, controllers: [], configuration: CONFIGURATION, gates: GATES }),
    kinds: [...new Set(families.flatMap(({ kinds }) => kinds)), ...STOCK_SNAPSHOT_KINDS],
    simulatedControllers: simulatedControllersNamed(SIMULATED_CONTROLLERS),
    seed,
    async prepare(world) {
      const now = world.clock.now();
      drawn = [...drawWorld(dice, now, size, crowded), ...drawRequests(dice, now), drawLatePolicy(dice)];
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
      // Offset by half a second, so that no deadline falls on the border between two plans.
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

/** A user changes an object whose deletion is planned. */
async function act(simulation: Simulation, dice: Dice, { deletions }: Plan): Promise<void> {
  const now = simulation.clock.now();
  if (dice.chance(0.4)) await simulation.apply(drawRequest(dice, `later-${now}`));
  if (dice.chance(0.3)) await bringLate(simulation);
  const waiting = deletions.filter(
    ({ at, object }) => at > now && ['Job', 'ConfigMap'].includes(object.kind),
  );
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

/** The first deletion event of each object since that change, by uid. */
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
  readonly by: 'process' | 'simulated controller';
  /** The plan itself marks this deletion as uncertain. */
  readonly uncertain: boolean;
  readonly what: string;
}

/** By uid, ordered by time. An object that may be deleted at one time and is deleted at a later one is listed twice. */
function expectedFrom({ deletions, made }: Plan): Map<string, Expected[]> {
  const expected = new Map<string, Expected[]>();
  const add = (uid: string, one: Expected) => expected.set(uid, [...(expected.get(uid) ?? []), one]);
  for (const end of deletions) {
    const at = Math.max(end.at, made);
    // A keeper rounds the time at which it finds that the object is gone.
    const within = end.rule.includes('Follow') ? 2 * SECOND : SECOND;
    const what = `${end.object.kind} ${end.object.name}`;
    const isChance = end.uncertain === true;
    add(end.object.uid, { at, within, by: 'process', uncertain: isChance, what: `${what} (${end.rule})` });
    for (const { object, uncertain = false } of end.dependents)
      add(object.uid, {
        at,
        within,
        by: 'simulated controller',
        uncertain: uncertain || isChance,
        what: `${object.kind} ${object.name} with ${what}`,
      });
  }
  return expected;
}

/** Timestamps of objects have whole seconds, and so has the next evaluation in a status. */
const SECOND = 1000;

interface Known {
  /** Number of changes when the plan was made. */
  readonly since: number;
  readonly drawn: readonly KubeObject[];
}

/**
 * If an object expires in the instant in which its owner is deleted, either the garbage collector or the rule deletes
 * it first.
 */
function goesWithOwner(
  uid: string,
  at: number,
  { drawn, expected }: { drawn: readonly KubeObject[]; expected: ReadonlyMap<string, Expected[]> },
): boolean {
  const { ownerReferences = [] } = drawn.find(({ metadata }) => metadata.uid === uid)?.metadata ?? {};
  return ownerReferences.some((owner) => expected.get(owner.uid)?.some((one) => one.at === at));
}

function judge(plan: Plan, { since, drawn }: Known, simulation: Simulation): string[] {
  const now = simulation.clock.now();
  const expected = expectedFrom(plan);
  const deletions = deletionsSince(since, simulation);
  const news = newsIn(simulation.changes.slice(since));
  const when = (at: number) => `+${((at - plan.made) / 60_000).toFixed(3)} min`;
  const problems: string[] = [];
  for (const [uid, { at, by, what }] of deletions) {
    if (by === 'user' || news.has(uid)) continue;
    const planned = expected.get(uid) ?? [];
    const met = planned.filter((one) => Math.abs(one.at - at) < one.within);
    if (planned.length === 0) problems.push(`not planned: ${what} at ${when(at)} by the ${by}`);
    else if (met.length === 0)
      problems.push(`planned for ${planned.map((one) => when(one.at)).join()}: ${what} at ${when(at)}`);
    else if (met.every((one) => one.by !== by && !goesWithOwner(uid, one.at, { drawn, expected })))
      problems.push(`planned for the ${met[0]!.by}: ${what} by the ${by}`);
  }
  for (const [uid, all] of expected)
    for (const { at, within, what, uncertain } of all)
      if (!uncertain && at + within <= now && !deletions.has(uid))
        problems.push(`did not happen: ${what}, planned for ${when(at)}`);
  return problems;
}
