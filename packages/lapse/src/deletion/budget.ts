// Deletion rate limits, per second and per minute. A sliding window enforces each limit. An object that exceeds a limit
// gets its own time slot, so that ten thousand waiting keys do not all retry at the same time.

import type { Clock } from '@lapse/base/clock';
import { type Instant, type Millis, millis, minus, minutes, plus, seconds } from '@lapse/base/instant';
import { SlidingWindow } from '@lapse/base/slidingWindow';

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
export const createBudget = (options: BudgetOptions): Budget => new PlannedBudget(options);

const earliest = (windows: readonly SlidingWindow[]) =>
  Math.max(...windows.map((window) => window.earliest()));

class PlannedBudget implements Budget {
  readonly #clock: Clock;
  /** Recorded deletions. These windows enforce the limits. */
  #spent: SlidingWindow[];
  /** Recorded and planned deletions. These windows give each waiting object its own time slot. */
  #planned: SlidingWindow[];
  readonly #slots = new Map<string, Slot>();
  #last = Number.NEGATIVE_INFINITY;
  #plan = 0;

  constructor({ clock, ...limits }: BudgetOptions) {
    const createWindows = () => limitsOf(limits).map(([most, length]) => new SlidingWindow(most, length));
    this.#clock = clock;
    this.#spent = createWindows();
    this.#planned = createWindows();
  }

  ask(uid: string, now: Instant, retryAt = now): Claim {
    if (this.#spent.length === 0) return { kind: 'go' };
    const elapsed = this.#clock.elapsed();
    this.#releaseUnused(elapsed);
    const free = earliest(this.#spent);
    const slot = this.#slotOf(uid, elapsed, free);
    const left = Math.max(slot.at, free) - elapsed;
    this.#slots.set(uid, { ...slot, retryAt: elapsed + Math.max(left, minus(retryAt, now)) });
    return left <= 0 ? { kind: 'go' } : { kind: 'wait', until: plus(now, millis(left)) };
  }

  spend(uid: string): void {
    this.#slots.delete(uid);
    for (const window of this.#spent) window.take(this.#clock.elapsed());
  }

  claim(uid: string, now: Instant): Claim {
    const claim = this.ask(uid, now);
    if (claim.kind === 'go') this.spend(uid);
    return claim;
  }

  limit(changed: Limits): void {
    const next = limitsOf(changed);
    if (next.length !== this.#spent.length) throw new Error('limits of other kinds need another budget');
    this.#spent = this.#spent.map((window, i) => window.resized(next[i]![0]));
    this.#planned = this.#spent.map((window, i) => window.resized(next[i]![0]));
    this.#slots.clear();
    this.#replan();
  }

  /** Reserves the next free slot of the plan. Slots only move forward. */
  #reserve(elapsed: Millis): Slot {
    this.#last = Math.max(elapsed, this.#last, earliest(this.#planned));
    for (const window of this.#planned) window.take(this.#last);
    return { at: this.#last, plan: this.#plan, retryAt: this.#last };
  }

  /** Restarts the plan from the recorded deletions, because slots were not used or were used late. */
  #replan(): void {
    this.#plan++;
    this.#last = Number.NEGATIVE_INFINITY;
    for (const [i, window] of this.#planned.entries()) window.copy(this.#spent[i]!);
  }

  #releaseUnused(elapsed: Millis): void {
    for (const [uid, { retryAt }] of this.#slots) {
      if (elapsed - retryAt < RELEASE_AFTER) return;
      this.#slots.delete(uid);
    }
  }

  #slotOf(uid: string, elapsed: Millis, free: number): Slot {
    const slot = this.#slots.get(uid) ?? this.#reserve(elapsed);
    if (elapsed < slot.at || free - elapsed <= REPLAN_AFTER) return slot;
    if (slot.plan === this.#plan) this.#replan();
    this.#slots.delete(uid);
    return this.#reserve(elapsed);
  }
}
