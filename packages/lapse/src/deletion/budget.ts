// Deletion rate limits, per second and per minute. A sliding window enforces each limit. An object that exceeds a limit
// gets its own time slot, so that ten thousand waiting keys do not all retry at the same time.

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
   * Whether the object `uid` may be deleted now. On `wait`, the caller asks again at `until`; the slot stays reserved.
   * Does not consume the budget. `retryAt`: when the caller asks again because another budget makes it wait. The slot
   * stays reserved until then.
   */
  ask(uid: string, now: Instant, retryAt?: Instant): Claim;
  /** Records the deletion. Call it only after `ask` returned `go`, in the same synchronous turn. */
  spend(uid: string): void;
  /** `ask`, and `spend` if the answer is `go`. */
  claim(uid: string, now: Instant): Claim;
  /** Replaces the limits by others of the same kinds. Recorded deletions still count; waiting objects get new slots. */
  limit(limits: Limits): void;
}

/**
 * `go` only if every budget allows the deletion; a budget that would allow it is not charged when another one makes it
 * wait. Pass the narrowest budget first: an object that has to wait for it takes no slot in the shared budgets.
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

/** Allows `most` events in any window of `length`. Uses monotonic time, so clock changes have no effect. */
class Window {
  readonly #most: number;
  readonly #times: Float64Array;
  readonly #length: Millis;
  #next = 0;

  /** `capacity`: how many events are remembered. It exceeds `most` if the limit was higher before. */
  constructor(most: number, length: Millis, capacity = most) {
    this.#most = most;
    this.#times = new Float64Array(capacity).fill(Number.NEGATIVE_INFINITY);
    this.#length = length;
  }

  /** The earliest time of the next event. */
  earliest(): number {
    const { length } = this.#times;
    return this.#times[(this.#next + length - this.#most) % length]! + this.#length;
  }

  take(at: number): void {
    this.#times[this.#next] = at;
    this.#next = (this.#next + 1) % this.#times.length;
  }

  /** Copies the events of a window of the same size. */
  copy(other: Window): void {
    this.#times.set(other.#times);
    this.#next = other.#next;
  }

  /** A window with another limit and the same recorded events. */
  resized(most: number): Window {
    const other = new Window(most, this.#length, Math.max(most, this.#times.length));
    for (let i = 0; i < this.#times.length; i++)
      other.take(this.#times[(this.#next + i) % this.#times.length]!);
    return other;
  }
}

interface Slot {
  readonly at: number;
  /** The plan in which this slot was reserved. */
  readonly plan: number;
  /** When the caller is expected to ask again. */
  readonly retryAt: number;
}

/** A slot is released if its object was not asked for again for this long. */
const RELEASE_AFTER = minutes(10);
/** An object that can be deleted only this much later than planned gets a new slot: the plan is out of date. */
const REPLAN_AFTER = millis(500);

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

/** Without limits, the budget always answers `go`. */
export function createBudget({ clock, ...limits }: BudgetOptions): Budget {
  const createWindows = () => limitsOf(limits).map(([most, length]) => new Window(most, length));
  /** Recorded deletions. These windows enforce the limits. */
  let spent = createWindows();
  /** Recorded and planned deletions. These windows give each waiting object its own time slot. */
  let planned = createWindows();
  const slots = new Map<string, Slot>();
  let last = Number.NEGATIVE_INFINITY;
  let plan = 0;

  const earliest = (windows: readonly Window[]) => Math.max(...windows.map((window) => window.earliest()));

  /** Reserves the next free slot of the plan. Slots only move forward. */
  function reserve(elapsed: Millis): Slot {
    last = Math.max(elapsed, last, earliest(planned));
    for (const window of planned) window.take(last);
    return { at: last, plan, retryAt: last };
  }

  /** Restarts the plan from the recorded deletions, because slots were not used or were used late. */
  function replan(): void {
    plan++;
    last = Number.NEGATIVE_INFINITY;
    for (const [i, window] of planned.entries()) window.copy(spent[i]!);
  }

  function releaseUnused(elapsed: Millis): void {
    for (const [uid, { retryAt }] of slots) {
      if (elapsed - retryAt < RELEASE_AFTER) return;
      slots.delete(uid);
    }
  }

  function slotOf(uid: string, elapsed: Millis, free: number): Slot {
    const slot = slots.get(uid) ?? reserve(elapsed);
    if (elapsed < slot.at || free - elapsed <= REPLAN_AFTER) return slot;
    if (slot.plan === plan) replan();
    slots.delete(uid);
    return reserve(elapsed);
  }

  function ask(uid: string, now: Instant, retryAt = now): Claim {
    if (spent.length === 0) return { kind: 'go' };
    const elapsed = clock.elapsed();
    releaseUnused(elapsed);
    const free = earliest(spent);
    const slot = slotOf(uid, elapsed, free);
    const left = Math.max(slot.at, free) - elapsed;
    slots.set(uid, { ...slot, retryAt: elapsed + Math.max(left, minus(retryAt, now)) });
    return left <= 0 ? { kind: 'go' } : { kind: 'wait', until: plus(now, millis(left)) };
  }

  function spend(uid: string): void {
    slots.delete(uid);
    for (const window of spent) window.take(clock.elapsed());
  }

  function limit(changed: Limits): void {
    const next = limitsOf(changed);
    if (next.length !== spent.length) throw new Error('limits of other kinds need another budget');
    spent = spent.map((window, i) => window.resized(next[i]![0]));
    planned = spent.map((window, i) => window.resized(next[i]![0]));
    slots.clear();
    replan();
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
