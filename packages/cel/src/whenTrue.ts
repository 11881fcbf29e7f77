// When will this become true, if nothing but time passes? Where the condition compares straight lines of time (ages
// against limits), the answer is computed: between two instants at which some comparison jumps, nothing changes, so it
// is enough to look at those instants one after the other. Otherwise it is searched for, on the assertion that the
// condition stays true once it is: probe the end, gallop, bisect, and check the assertion at points not looked at yet.
// The answer only says when to look: whoever acts evaluates again at the real time.

import { type Instant, instant, type Millis } from '@lapse/base/instant';
import { type Look, Probe, toNanos } from './probe.ts';
import { type Bindings, PER_CALL_LIMIT, type Program } from './program.ts';
import { timestampFromMillis } from './time.ts';

export type WhenTrue =
  /** `exact`: computed, not searched; then it is also the first such instant, whatever happens later. */
  | { readonly kind: 'at'; readonly at: Instant; readonly exact: boolean; readonly evaluations: number }
  | { readonly kind: 'never'; readonly exact: boolean; readonly evaluations: number }
  /** The search met true before false: the condition does not stay true. */
  | { readonly kind: 'notMonotonic'; readonly evaluations: number }
  /** More evaluations or cost would have been needed than allowed. */
  | { readonly kind: 'gaveUp'; readonly evaluations: number };

export interface WhenTrueOptions {
  /** Where galloping starts. */
  readonly step?: Millis;
  readonly maxEvaluations?: number;
  /** Cost of all evaluations together; a million units are well under 50 ms. */
  readonly budget?: number;
}

const MILLI = 1_000_000n;
const SECOND = 1_000_000_000n;
const DEFAULT_STEP = 60_000;
const LAST = 253_402_300_799n * SECOND;
const UNPROBED_POINTS = 4;

/** The first instant from `from` on, up to `horizon`, at which all conditions are true. */
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

/** Thrown when there is nothing left to spend. */
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

  /** All conditions at one instant; the conjunction can change when any of them can. */
  #look(at: bigint): Look {
    if (this.#evaluations >= this.#options.maxEvaluations) throw new OutOfBudget();
    this.#evaluations++;
    let truth: Look['truth'] = 'true';
    let next: bigint | undefined;
    for (const probe of this.#probes) {
      const look = probe.look(this.#bindings, at, this.#options.budget - this.#cost);
      this.#cost += look.cost;
      if (look.truth === 'exhausted') throw new OutOfBudget();
      if (look.truth !== 'true') truth = look.truth;
      if (look.next !== undefined && (next === undefined || look.next < next)) next = look.next;
    }
    return { truth, next, cost: 0 };
  }

  #isTrue(at: bigint): boolean {
    return this.#look(at).truth === 'true';
  }

  #found(at: bigint, exact: boolean): WhenTrue {
    // Rounded up: the answer is never before the instant.
    const millis = Number((at + (at >= 0n ? MILLI - 1n : 0n)) / MILLI);
    return { kind: 'at', at: instant(millis), exact, evaluations: this.#evaluations };
  }

  /** From jump to jump. When there are too many, the rest is searched, with the jumps as help. */
  #step(): WhenTrue {
    const most = this.#options.maxEvaluations / 4;
    for (let at = this.#from; ; ) {
      const { truth, next } = this.#look(at);
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

  /** Everything before `low` is known; from there on the condition is taken to stay true once it is. */
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

  /** Narrows (false, true] to a second, and further where the jumps are known. */
  #bisect(low: bigint, high: bigint): bigint {
    let lo = low;
    let hi = high;
    while (hi - lo > SECOND) {
      const mid = lo + (hi - lo) / 2n;
      const { truth, next } = this.#look(mid);
      if (truth === 'true') hi = mid;
      // Nothing changes before the next jump.
      else lo = this.#analysable && next !== undefined ? earlier(next, hi) - 1n : mid;
    }
    return this.#analysable ? this.#firstJump(lo, hi) : hi;
  }

  /** The jump between a false and a true instant close to each other. */
  #firstJump(low: bigint, high: bigint): bigint {
    for (let at = low, tries = 0; tries < UNPROBED_POINTS; tries++) {
      const { truth, next } = this.#look(at);
      if (truth === 'true') return at;
      if (next === undefined || next >= high) return high;
      at = next;
    }
    return high;
  }

  /** False at some points before, true at some points behind: what the assertion promises. */
  #holdsAround(end: bigint): boolean {
    for (let i = 1n; i <= BigInt(UNPROBED_POINTS); i++) {
      // Thirds and such never fall on points that halving visits.
      const before = this.#from + ((end - SECOND - this.#from) * i) / 7n;
      const after = end + ((this.#horizon - end) * i) / 7n;
      if (before > this.#from && before < end - SECOND && this.#isTrue(before)) return false;
      if (!this.#isTrue(after)) return false;
    }
    return true;
  }
}
