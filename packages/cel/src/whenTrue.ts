// Computes when conditions become true if only time passes. If the conditions compare linear functions of time (ages
// against limits), the instant is computed: results can change only at the instants where a comparison changes, so it
// is enough to evaluate those in order. Otherwise it is searched for, assuming that the condition stays true once it
// is: evaluate the end, search exponentially, bisect, and check the assumption at other points.
// The result only says when to evaluate next. Callers must evaluate again at the real time before they act.

import { type Instant, instant, type Millis } from '@lapse/base/instant';
import { Probe, type ProbeResult, toNanos } from './probe.ts';
import { type Bindings, PER_CALL_LIMIT, type Program } from './program.ts';
import { timestampFromMillis } from './time.ts';

export type WhenTrue =
  /** `exact`: computed, not searched. It is then the first such instant, whatever happens later. */
  | { readonly kind: 'at'; readonly at: Instant; readonly exact: boolean; readonly evaluations: number }
  | { readonly kind: 'never'; readonly exact: boolean; readonly evaluations: number }
  /** The search found true before false: the condition does not stay true. */
  | { readonly kind: 'notMonotonic'; readonly evaluations: number }
  /** The search would exceed the allowed evaluations or cost. */
  | { readonly kind: 'gaveUp'; readonly evaluations: number };

export interface WhenTrueOptions {
  /** The first step of the exponential search. */
  readonly step?: Millis;
  readonly maxEvaluations?: number;
  /** Total cost of all evaluations. A million units take well under 50 ms. */
  readonly budget?: number;
}

const MILLI = 1_000_000n;
const SECOND = 1_000_000_000n;
const DEFAULT_STEP = 60_000;
const LAST = 253_402_300_799n * SECOND;
const UNPROBED_POINTS = 4;

/** The first instant between `from` and `horizon` at which all conditions are true. */
export function whenTrue(
  conditions: Program | readonly Program[],
  bindings: Bindings,
  span: { readonly from: Instant; readonly horizon: Instant },
  options: WhenTrueOptions = {},
): WhenTrue {
  const programs = Array.isArray(conditions) ? (conditions as readonly Program[]) : [conditions as Program];
  return new Search(programs, bindings, span, options).run();
}

const earlier = (a: bigint, b: bigint): bigint => (b < a ? b : a);

/** Thrown when the budget is exhausted. */
class OutOfBudget extends Error {}

class Search {
  readonly #probes: readonly Probe[];
  readonly #bindings: Bindings;
  readonly #from: bigint;
  readonly #horizon: bigint;
  readonly #options: Required<WhenTrueOptions>;
  #evaluations = 0;
  #cost = 0;

  constructor(
    programs: readonly Program[],
    bindings: Bindings,
    span: { readonly from: Instant; readonly horizon: Instant },
    options: WhenTrueOptions,
  ) {
    this.#probes = programs.map((p) => new Probe(p));
    this.#bindings = bindings;
    this.#from = toNanos(timestampFromMillis(span.from));
    const horizon = toNanos(timestampFromMillis(span.horizon));
    this.#horizon = earlier(horizon, LAST);
    this.#options = {
      step: options.step ?? (DEFAULT_STEP as Millis),
      maxEvaluations: options.maxEvaluations ?? 64,
      budget: options.budget ?? PER_CALL_LIMIT,
    };
  }

  get #analysable(): boolean {
    return this.#probes.every((p) => p.analysable);
  }

  run(): WhenTrue {
    try {
      return this.#analysable ? this.#step() : this.#search();
    } catch (e) {
      if (e instanceof OutOfBudget) return { kind: 'gaveUp', evaluations: this.#evaluations };
      throw e;
    }
  }

  /** Evaluates all conditions at one instant. Their conjunction can change when any of them can. */
  #evaluate(at: bigint): ProbeResult {
    if (this.#evaluations >= this.#options.maxEvaluations) throw new OutOfBudget();
    this.#evaluations++;
    let truth: ProbeResult['truth'] = 'true';
    let next: bigint | undefined;
    for (const probe of this.#probes) {
      const result = probe.evaluate(this.#bindings, at, this.#options.budget - this.#cost);
      this.#cost += result.cost;
      if (result.truth === 'exhausted') throw new OutOfBudget();
      if (result.truth !== 'true') truth = result.truth;
      if (result.next !== undefined && (next === undefined || result.next < next)) next = result.next;
    }
    return { truth, next, cost: 0 };
  }

  #isTrue(at: bigint): boolean {
    return this.#evaluate(at).truth === 'true';
  }

  #found(at: bigint, exact: boolean): WhenTrue {
    // Rounded up: the result is never before the instant.
    const millis = Number((at + (at >= 0n ? MILLI - 1n : 0n)) / MILLI);
    return { kind: 'at', at: instant(millis), exact, evaluations: this.#evaluations };
  }

  /** Evaluates from change to change. If there are too many, it searches the rest with the help of the changes. */
  #step(): WhenTrue {
    const most = this.#options.maxEvaluations / 4;
    for (let at = this.#from; ; ) {
      const { truth, next } = this.#evaluate(at);
      if (truth === 'true') return this.#found(at, true);
      if (next === undefined || next > this.#horizon) {
        return { kind: 'never', exact: true, evaluations: this.#evaluations };
      }
      at = next;
      if (this.#evaluations >= most) return this.#searchFrom(at);
    }
  }

  #search(): WhenTrue {
    return this.#isTrue(this.#from) ? this.#found(this.#from, true) : this.#searchFrom(this.#from);
  }

  /** Everything before `low` is known. From there on the condition is assumed to stay true once it is. */
  #searchFrom(low: bigint): WhenTrue {
    if (!this.#isTrue(this.#horizon)) return { kind: 'never', exact: false, evaluations: this.#evaluations };
    const [lo, hi] = this.#analysable ? [low, this.#horizon] : this.#gallop(low);
    const end = this.#bisect(lo, hi);
    return this.#holdsAround(end)
      ? this.#found(end, false)
      : { kind: 'notMonotonic', evaluations: this.#evaluations };
  }

  #gallop(low: bigint): [bigint, bigint] {
    let lo = low;
    for (let step = BigInt(Math.ceil(this.#options.step)) * MILLI; ; step *= 2n) {
      const at = low + step;
      if (at >= this.#horizon) return [lo, this.#horizon];
      if (this.#isTrue(at)) return [lo, at];
      lo = at;
    }
  }

  /** Narrows (false, true] to a second, and further if the instants of change are known. */
  #bisect(low: bigint, high: bigint): bigint {
    let lo = low;
    let hi = high;
    while (hi - lo > SECOND) {
      const mid = lo + (hi - lo) / 2n;
      const { truth, next } = this.#evaluate(mid);
      if (truth === 'true') hi = mid;
      // The result cannot change before `next`.
      else lo = this.#analysable && next !== undefined ? earlier(next, hi) - 1n : mid;
    }
    return this.#analysable ? this.#firstJump(lo, hi) : hi;
  }

  /** The instant of change between a false and a true instant that are close to each other. */
  #firstJump(low: bigint, high: bigint): bigint {
    for (let at = low, tries = 0; tries < UNPROBED_POINTS; tries++) {
      const { truth, next } = this.#evaluate(at);
      if (truth === 'true') return at;
      if (next === undefined || next >= high) return high;
      at = next;
    }
    return high;
  }

  /** Checks the assumption: false at some points before, true at some points after. */
  #holdsAround(end: bigint): boolean {
    for (let i = 1n; i <= BigInt(UNPROBED_POINTS); i++) {
      // Bisection never evaluates at thirds and similar fractions.
      const before = this.#from + ((end - SECOND - this.#from) * i) / 7n;
      const after = end + ((this.#horizon - end) * i) / 7n;
      if (before > this.#from && before < end - SECOND && this.#isTrue(before)) return false;
      if (!this.#isTrue(after)) return false;
    }
    return true;
  }
}
