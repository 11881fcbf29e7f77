// Counts waiting, due and done objects by family, for the live view and the final summary.

import { BoundedMap } from '@lapse/base/boundedMap';
import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, type Millis, millis, minus } from '@lapse/base/instant';
import { keyText, parseKeyText } from '@lapse/runtime/interner';
import type { ReconcileRecord } from '@lapse/runtime/worker';
import type { Change } from '@lapse/simulation/history';
import { refText } from '@lapse/simulation/refs';
import { lengthText } from '@lapse/simulation/timeline';
import type { DeletingReconcile } from '#forecast/simulate/attribution';
import { computeDone } from './computeDone.ts';
import type { Ahead } from './upcomingEvents.ts';

export interface Waiting {
  readonly ref: string;
  readonly at: Instant;
}

/** A deleted object, a finished request, or a node removed from a pool. */
export interface Done {
  readonly ref: string;
  readonly at: Instant;
  readonly by: string;
}

/** A family with waiting or done objects. */
export interface Standing {
  readonly family: string;
  /** Number of objects that are deleted or change at a known time. */
  readonly waiting: number;
  /** Those of them whose time has come. */
  readonly due: number;
  readonly done: number;
  /** The longest delay of a deletion after its deadline. Undefined without deadlines. */
  readonly latest?: Millis;
  readonly failed: number;
  readonly next?: Waiting;
  /** The last one. */
  readonly last?: Done;
}

export interface Overview {
  readonly start: Instant;
  readonly now: Instant;
  readonly standings: readonly Standing[];
  /** Latest first. */
  readonly latestDone: readonly Done[];
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
  done: number;
  latest?: Millis;
  failed: number;
  last?: Done;
}

export class Tally {
  readonly #options: TallyOptions;
  readonly #start: Instant;
  readonly #allCounters = new Map<string, Counters>();
  #latest: Done[] = [];

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
    for (const result of computeDone(change)) {
      const reconcile = result.by === undefined ? this.#options.deedOf?.(change) : undefined;
      const by = result.by ?? reconcile?.controller ?? UNKNOWN_CONTROLLER;
      const counters = this.#counters(by);
      counters.done++;
      // A finished request has no deadline, so no delay is measured.
      if (result.how !== 'finished') measure(counters, idOf(by, reconcile?.key ?? keyOf(change)), change.at);
      counters.last = { ref: result.ref, at: change.at, by };
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
      .filter(({ waiting, done, failed }) => waiting + done + failed > 0)
      .sort((a, b) => (a.family < b.family ? -1 : 1));
    return { start: this.#start, now, standings, latestDone: this.#latest };
  }

  /** One line, plus one per family with done objects. */
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
    const head = `in ${length}: ${sum((one) => one.done)} done, ${sum((one) => one.waiting)} waiting${waiting}${failures}`;
    return [head, ...standings.filter(({ done }) => done > 0).map(doneText)].join('\n');
  }

  /** The counters of a controller's family, or of a family by name. */
  #counters(name: string): Counters {
    const family = this.#options.familyOf?.(name) ?? name;
    let counters = this.#allCounters.get(family);
    if (counters === undefined) {
      counters = { waits: new Map(), deadlines: new BoundedMap(MOST_DEADLINES), done: 0, failed: 0 };
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

function doneText({ family, done, latest }: Standing): string {
  const late = latest === undefined ? '' : `, at most ${lengthText(latest)} late`;
  return `  ${family.padEnd(20)} ${String(done).padStart(4)} done${late}`;
}

interface Stand {
  readonly family: string;
  readonly counters: Counters;
  readonly waits: readonly Waiting[];
  readonly now: Instant;
}

function standingOf({ family, counters, waits, now }: Stand): Standing {
  const { done, latest, failed, last } = counters;
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
    done,
    failed,
    ...(latest === undefined ? {} : { latest }),
    ...(next === undefined ? {} : { next }),
    ...(last === undefined ? {} : { last }),
  };
}
