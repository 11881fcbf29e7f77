// How many deletions there may be per second and per minute. In no window of that length are there more; whoever comes
// when the window is full is given a time of its own, so that ten thousand waiting keys do not all knock at once.

import type { Clock } from '@lapse/base/clock';
import { type Instant, type Millis, millis, minus, minutes, plus, seconds } from '@lapse/base/instant';

export interface Limits {
  readonly perSecond?: number;
  readonly perMinute?: number;
}

export interface BudgetOptions extends Limits {
  readonly clock: Clock;
}

export type Claim = { readonly kind: 'go' } | { readonly kind: 'wait'; readonly until: Instant };

export interface Budget {
  /**
   * May the object `uid` be deleted now? Told to wait, it asks again at that time; its place is kept. Spends nothing.
   * `elsewhere`: when it comes back because somebody else makes it wait; its place is kept until then, too.
   */
  ask(uid: string, now: Instant, elsewhere?: Instant): Claim;
  /** It goes now. Only after `ask` said so, in the same turn. */
  spend(uid: string): void;
  /** Both. */
  claim(uid: string, now: Instant): Claim;
  /** Other limits of the same kinds from now on. What was spent stays spent; whoever waits is given another time. */
  limit(limits: Limits): void;
}

/**
 * Goes when all of them agree; what one of them makes wait costs the others nothing. The narrowest comes first: only whoever
 * it lets go takes a place in those that are shared with others.
 */
export function claimAll(budgets: readonly (Budget | undefined)[], uid: string, now: Instant): Claim {
  const agreed: Budget[] = [];
  for (const budget of budgets) {
    if (budget === undefined) continue;
    const claim = budget.ask(uid, now);
    if (claim.kind === 'wait') {
      for (const other of agreed) other.ask(uid, now, claim.until);
      return claim;
    }
    agreed.push(budget);
  }
  for (const budget of agreed) budget.spend(uid);
  return { kind: 'go' };
}

/** At most `most` in any window of `length`. Times are monotonic: setting the clock changes nothing. */
class Window {
  readonly #most: number;
  readonly #times: Float64Array;
  readonly #length: Millis;
  #next = 0;

  /** `room`: how many are remembered, where a limit that was higher once may be so again. */
  constructor(most: number, length: Millis, room = most) {
    this.#most = most;
    this.#times = new Float64Array(room).fill(Number.NEGATIVE_INFINITY);
    this.#length = length;
  }

  /** The earliest time for one more. */
  earliest(): number {
    const { length } = this.#times;
    return this.#times[(this.#next + length - this.#most) % length]! + this.#length;
  }

  take(at: number): void {
    this.#times[this.#next] = at;
    this.#next = (this.#next + 1) % this.#times.length;
  }

  /** Becomes equal to another of the same size. */
  copy(other: Window): void {
    this.#times.set(other.#times);
    this.#next = other.#next;
  }

  /** Another window that knows what this one does. */
  resized(most: number): Window {
    const other = new Window(most, this.#length, Math.max(most, this.#times.length));
    for (let i = 0; i < this.#times.length; i++)
      other.take(this.#times[(this.#next + i) % this.#times.length]!);
    return other;
  }
}

interface Place {
  readonly at: number;
  /** The number of the plan it belongs to. */
  readonly plan: number;
  /** When its owner comes back. */
  readonly back: number;
}

/** The place of somebody who has not come back for this long is given up. */
const FORGOTTEN = minutes(10);
/** Whoever could go so much later than planned gets another place: the plan did not come true. */
const LATE = millis(500);

/** How many, and in what time. */
type Limit = readonly [most: number, length: Millis];

function limitsOf({ perSecond, perMinute }: Limits): Limit[] {
  const given = [
    ['perSecond', perSecond, seconds(1)],
    ['perMinute', perMinute, minutes(1)],
  ] as const;
  return given.flatMap(([name, most, length]): Limit[] => {
    if (most === undefined) return [];
    if (!Number.isInteger(most) || most <= 0) throw new Error(`${name} must be a whole number above zero`);
    return [[most, length]];
  });
}

/** Without limits, a budget that always says go. */
export function createBudget({ clock, ...limits }: BudgetOptions): Budget {
  const createWindows = () => limitsOf(limits).map(([most, length]) => new Window(most, length));
  /** Deletions as they were; these keep the promise. */
  let spent = createWindows();
  /** As they are planned, so that everybody who waits has a time of their own. */
  let planned = createWindows();
  const places = new Map<string, Place>();
  let last = Number.NEGATIVE_INFINITY;
  let plan = 0;

  const earliest = (windows: readonly Window[]) => Math.max(...windows.map((window) => window.earliest()));

  /** The next free place of the plan; places only move forward. */
  function reserve(elapsed: Millis): Place {
    last = Math.max(elapsed, last, earliest(planned));
    for (const window of planned) window.take(last);
    return { at: last, plan, back: last };
  }

  /** From what was really spent: places were not used, or later than planned. */
  function planAnew(): void {
    plan++;
    last = Number.NEGATIVE_INFINITY;
    for (const [i, window] of planned.entries()) window.copy(spent[i]!);
  }

  function forget(elapsed: Millis): void {
    for (const [uid, { back }] of places) {
      if (elapsed - back < FORGOTTEN) return;
      places.delete(uid);
    }
  }

  function placeOf(uid: string, elapsed: Millis, free: number): Place {
    const place = places.get(uid) ?? reserve(elapsed);
    if (elapsed < place.at || free - elapsed <= LATE) return place;
    if (place.plan === plan) planAnew();
    places.delete(uid);
    return reserve(elapsed);
  }

  function ask(uid: string, now: Instant, elsewhere = now): Claim {
    if (spent.length === 0) return { kind: 'go' };
    const elapsed = clock.elapsed();
    forget(elapsed);
    const free = earliest(spent);
    const place = placeOf(uid, elapsed, free);
    const left = Math.max(place.at, free) - elapsed;
    places.set(uid, { ...place, back: elapsed + Math.max(left, minus(elsewhere, now)) });
    return left <= 0 ? { kind: 'go' } : { kind: 'wait', until: plus(now, millis(left)) };
  }

  function spend(uid: string): void {
    places.delete(uid);
    for (const window of spent) window.take(clock.elapsed());
  }

  function limit(changed: Limits): void {
    const next = limitsOf(changed);
    if (next.length !== spent.length) throw new Error('limits of other kinds need another budget');
    spent = spent.map((window, i) => window.resized(next[i]![0]));
    planned = spent.map((window, i) => window.resized(next[i]![0]));
    places.clear();
    planAnew();
  }

  return {
    ask,
    spend,
    limit,
    claim(uid, now) {
      const claim = ask(uid, now);
      if (claim.kind === 'go') spend(uid);
      return claim;
    },
  };
}
