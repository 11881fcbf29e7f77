// The state of one evaluation: variable values and costs.
// `cost` follows Kubernetes' cost model. `work` is specific to this engine: it counts operations that are free in that
// model but take time or memory (copying a list, building a string, one regular expression match), so that a program
// within its cost budget also has bounded run time.

import type { Value } from './values.ts';

/** Thrown when the budget is exhausted. It is not a value, so no operator absorbs it. */
export class BudgetExceeded extends Error {
  readonly cost: number;
  constructor(cost: number) {
    super('operation cancelled: actual cost limit exceeded');
    this.name = 'BudgetExceeded';
    this.cost = cost;
  }
}

/** Settings of the environment that apply to evaluations. */
export interface FrameRules {
  /** Units of work, about ten nanoseconds each, per unit of cost. */
  readonly workPerCost: number;
  readonly strictPresence: boolean;
  /** Maximum total size of the patterns that one evaluation may compile. */
  readonly maxPatternSize: number;
}

export class Frame {
  readonly slots: Value[];
  readonly limit: number;
  readonly workLimit: number;
  readonly strictPresence: boolean;
  cost = 0;
  workDone = 0;
  /** Total size of the patterns that this evaluation compiled. */
  patternSize = 0;
  readonly maxPatternSize: number;
  /** Lists and maps already converted to their declared type. */
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

  /** For evaluating constants at compile time, where nothing is counted. */
  static unlimited(): Frame {
    return new Frame([], Number.POSITIVE_INFINITY, {
      workPerCost: 1,
      strictPresence: true,
      maxPatternSize: 0,
    });
  }

  /** Adds to the cost. */
  charge(units: number): void {
    const cost = this.cost + units;
    // The reported cost never exceeds the limit.
    if (cost > this.limit) throw new BudgetExceeded(this.cost);
    this.cost = cost;
  }

  /** Adds to the work; see the header of this file. */
  work(units: number): void {
    this.workDone += units;
    if (this.workDone > this.workLimit) throw new BudgetExceeded(this.cost);
  }
}
