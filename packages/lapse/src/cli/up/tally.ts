// Counts waiting, due and ended objects by family, for the live view and the final summary.

import { BoundedMap } from '@lapse/base/boundedMap';
import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, type Millis, millis, minus } from '@lapse/base/instant';
import { keyText, parseKeyText } from '@lapse/runtime/interner';
import type { ReconcileRecord } from '@lapse/runtime/worker';
import type { Change } from '@lapse/simulation/history';
import { refText } from '@lapse/simulation/refs';
import { lengthText } from '@lapse/simulation/timeline';
import type { DeletingReconcile } from '#forecast/simulate/attribution';
import { computeEnds } from './computeEnds.ts';
import type { Ahead } from './upcomingEvents.ts';

export interface Waiting {
  readonly ref: string;
  readonly at: Instant;
}

export interface Ended {
  readonly ref: string;
  readonly at: Instant;
  readonly by: string;
}

/** A family with waiting or ended objects. */
export interface Standing {
  readonly family: string;
  /** Number of objects that are deleted or change at a known time. */
  readonly waiting: number;
  /** Those of them whose time has come. */
  readonly due: number;
  readonly ended: number;
  /** The longest delay of a deletion after its deadline. Undefined without deadlines. */
  readonly latest?: Millis;
  readonly failed: number;
  readonly next?: Waiting;
  /** The last object it ended. */
  readonly last?: Ended;
}

export interface Overview {
  readonly start: Instant;
  readonly now: Instant;
  readonly standings: readonly Standing[];
  /** Latest first. */
  readonly justEnded: readonly Ended[];
}

/** The forecast. For families without one only the waits of their reconciles are known. */
export interface UpcomingEvents {
  readonly ahead: readonly Ahead[];
  readonly families: ReadonlySet<string>;
}

const NOTHING_UPCOMING: UpcomingEvents = { ahead: [], families: new Set() };

export interface TallyOptions {
  readonly clock: Clock;
  /** The display name of a controller's key. Default: the key. */
  readonly refOf?: (controller: string, key: string) => string;
  /** The family of a controller. Default: the controller itself. */
  readonly familyOf?: (controller: string) => string | undefined;
  /** The controller that requested a deletion. */
  readonly deedOf?: (change: Change) => DeletingReconcile | undefined;
}

const KEPT = 20;
/** Deadlines of objects that another client deleted are never removed otherwise. */
const MOST_DEADLINES = 100_000;
/** Deletions without a reconcile that requested them. */
const UNKNOWN_CONTROLLER = 'lapse';

interface Counters {
  /** By controller and key. */
  readonly waits: Map<string, Waiting>;
  /** The last deadline, also if it is no longer waited for. Delays are measured against it. */
  readonly deadlines: Map<string, Instant>;
  ended: number;
  latest?: Millis;
  failed: number;
  last?: Ended;
}

export class Tally {
  readonly #options: TallyOptions;
  readonly #start: Instant;
  readonly #allCounters = new Map<string, Counters>();
  #latest: Ended[] = [];

  constructor(options: TallyOptions) {
    this.#options = options;
    this.#start = options.clock.now();
  }

  reconcile({ controller, key, outcome }: ReconcileRecord & { readonly controller: string }): void {
    const counters = this.#counters(controller);
    const id = idOf(controller, key);
    if (outcome.kind === 'waitUntil') {
      const ref = this.#options.refOf?.(controller, key) ?? refText(controller, parseKeyText(key));
      counters.waits.set(id, { ref, at: outcome.at });
      counters.deadlines.set(id, outcome.at);
    } else counters.waits.delete(id);
    if (outcome.kind === 'failed') counters.failed++;
  }

  /** Counts each object once, when its deletion is accepted. */
  change(change: Change): void {
    if (change.by !== 'process') return;
    for (const end of computeEnds(change)) {
      const reconcile = end.by === undefined ? this.#options.deedOf?.(change) : undefined;
      const by = end.by ?? reconcile?.controller ?? UNKNOWN_CONTROLLER;
      const counters = this.#counters(by);
      counters.ended++;
      // A finished request has no deadline, so no delay is measured.
      if (end.how !== 'done') measure(counters, idOf(by, reconcile?.key ?? keyOf(change)), change.at);
      counters.last = { ref: end.ref, at: change.at, by };
      this.#latest = [counters.last, ...this.#latest.slice(0, KEPT - 1)];
    }
  }

  overview({ ahead, families }: UpcomingEvents = NOTHING_UPCOMING): Overview {
    const now = this.#options.clock.now();
    const upcoming = Map.groupBy(ahead, ({ family }) => family);
    for (const family of upcoming.keys()) this.#counters(family);
    const waitsOf = (family: string, { waits }: Counters) =>
      families.has(family) ? (upcoming.get(family) ?? []) : [...waits.values()];
    const standings = [...this.#allCounters]
      .map(([family, counters]) => standingOf({ family, counters, waits: waitsOf(family, counters), now }))
      .filter(({ waiting, ended, failed }) => waiting + ended + failed > 0)
      .sort((a, b) => (a.family < b.family ? -1 : 1));
    return { start: this.#start, now, standings, justEnded: this.#latest };
  }

  /** One line, plus one per family that ended something. */
  text(stamp: (at: Instant) => string, upcoming: UpcomingEvents = NOTHING_UPCOMING): string {
    const { standings, now } = this.overview(upcoming);
    const length = lengthText((Math.floor(minus(now, this.#start) / 1000) * 1000) as Millis);
    const sum = (of: (standing: Standing) => number) => standings.reduce((all, one) => all + of(one), 0);
    const next = standings
      .flatMap((standing) => (standing.next === undefined ? [] : [standing.next]))
      .sort((a, b) => a.at - b.at)[0];
    const waiting = next === undefined ? '' : ` (next: ${next.ref} at ${stamp(next.at)})`;
    const failed = sum((one) => one.failed);
    const failures = failed === 0 ? '' : `, ${failed} failed attempts`;
    const head = `in ${length}: ${sum((one) => one.ended)} ended, ${sum((one) => one.waiting)} waiting${waiting}${failures}`;
    return [head, ...standings.filter(({ ended }) => ended > 0).map(endedText)].join('\n');
  }

  /** The counters of a controller's family, or of a family by name. */
  #counters(name: string): Counters {
    const family = this.#options.familyOf?.(name) ?? name;
    let counters = this.#allCounters.get(family);
    if (counters === undefined) {
      counters = { waits: new Map(), deadlines: new BoundedMap(MOST_DEADLINES), ended: 0, failed: 0 };
      this.#allCounters.set(family, counters);
    }
    return counters;
  }
}

const idOf = (controller: string, key: string): string => `${controller} ${key}`;
const keyOf = ({ namespace, name }: Change): string =>
  keyText(namespace === undefined ? { name } : { namespace, name });

function measure(counters: Counters, id: string, at: Instant): void {
  const deadline = counters.deadlines.get(id);
  // The reason was not the deadline.
  if (deadline === undefined || !isDue(deadline, at)) return;
  counters.latest = millis(Math.max(counters.latest ?? 0, minus(at, deadline)));
}

function endedText({ family, ended, latest }: Standing): string {
  const late = latest === undefined ? '' : `, at most ${lengthText(latest)} late`;
  return `  ${family.padEnd(20)} ${String(ended).padStart(4)} ended${late}`;
}

interface Stand {
  readonly family: string;
  readonly counters: Counters;
  readonly waits: readonly Waiting[];
  readonly now: Instant;
}

function standingOf({ family, counters, waits, now }: Stand): Standing {
  const { ended, latest, failed, last } = counters;
  let due = 0;
  let next: Waiting | undefined;
  for (const { ref, at } of waits) {
    if (isDue(at, now)) due++;
    if (next === undefined || at < next.at) next = { ref, at };
  }
  return {
    family,
    waiting: waits.length,
    due,
    ended,
    failed,
    ...(latest === undefined ? {} : { latest }),
    ...(next === undefined ? {} : { next }),
    ...(last === undefined ? {} : { last }),
  };
}
