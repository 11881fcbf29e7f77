// One evaluation in progress: the values of variables and the bill.
// `cost` follows Kubernetes' model and is what users know. `work` is ours: it counts what that model calls free
// but takes time or memory here (copying a list, building a string, one regular expression match), so that a program
// within its cost budget also stays within a bound of real work.

import type { Value } from './values.ts';

/** Raised when the budget is used up. It is no value: nothing absorbs it. */
export class BudgetExceeded extends Error {
  readonly cost: number;
  constructor(cost: number) {
    super('operation cancelled: actual cost limit exceeded');
    this.name = 'BudgetExceeded';
    this.cost = cost;
  }
}

// A unit of work is about ten nanoseconds; three per unit of cost keep a million units of cost under 50 ms.
const WORK_PER_COST = 3;

export class Frame {
  readonly slots: Value[];
  readonly limit: number;
  readonly workLimit: number;
  readonly strictPresence: boolean;
  cost = 0;
  workDone = 0;
  /** Lists and maps already read by their declared type. */
  #read: Map<object, Value> | undefined;

  constructor(slots: Value[], limit: number, strictPresence = true) {
    this.slots = slots;
    this.limit = limit;
    this.workLimit = limit * WORK_PER_COST;
    this.strictPresence = strictPresence;
  }

  get read(): Map<object, Value> {
    this.#read ??= new Map();
    return this.#read;
  }

  /** Adds to the bill. */
  charge(units: number): void {
    const cost = this.cost + units;
    // What was not granted was not spent.
    if (cost > this.limit) throw new BudgetExceeded(this.cost);
    this.cost = cost;
  }

  /** Adds real work, see above. */
  work(units: number): void {
    this.workDone += units;
    if (this.workDone > this.workLimit) throw new BudgetExceeded(this.cost);
  }
}
