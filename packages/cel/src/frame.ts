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

/** What an environment decides about evaluations in it. */
export interface FrameRules {
  /** Units of work, of about ten nanoseconds each, that a unit of cost allows. */
  readonly workPerCost: number;
  readonly strictPresence: boolean;
  /** Units of the patterns that one evaluation may compile. */
  readonly maxPatternSize: number;
}

export class Frame {
  readonly slots: Value[];
  readonly limit: number;
  readonly workLimit: number;
  readonly strictPresence: boolean;
  cost = 0;
  workDone = 0;
  /** Units of the patterns that this evaluation compiled. */
  patternSize = 0;
  readonly maxPatternSize: number;
  /** Lists and maps already read by their declared type. */
  #read: Map<object, Value> | undefined;

  constructor(slots: Value[], limit: number, rules: FrameRules) {
    this.slots = slots;
    this.limit = limit;
    this.workLimit = limit * rules.workPerCost;
    this.strictPresence = rules.strictPresence;
    this.maxPatternSize = rules.maxPatternSize;
  }

  get read(): Map<object, Value> {
    this.#read ??= new Map();
    return this.#read;
  }

  /** For working out constants when compiling, where nothing is counted. */
  static unlimited(): Frame {
    return new Frame([], Number.POSITIVE_INFINITY, {
      workPerCost: 1,
      strictPresence: true,
      maxPatternSize: 0,
    });
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
