// A minimal Prometheus metrics registry: counters, gauges and histograms with labels. Updating a bound child costs one
// addition. Registering a name twice returns the same metric, so that controllers can share it.

import { type Sample, textOf } from './text.ts';

export type Labels = readonly string[];

export interface Counter {
  inc(by?: number): void;
  readonly value: number;
}
export interface Gauge {
  set(value: number): void;
  add(by: number): void;
  readonly value: number;
}
export interface Histogram {
  observe(value: number): void;
  readonly count: number;
  readonly sum: number;
}

/** A metric with labels. `with` returns the child for label values, in the order of the label names. */
export interface Family<Child> {
  with(...values: string[]): Child;
  /** Removes a child whose subject no longer exists. */
  remove(...values: string[]): void;
}

export interface GaugeFamily extends Family<Gauge> {
  /** Reads the values at each scrape, for values that are cheaper to look up than to maintain. */
  collect(read: () => Iterable<readonly [values: Labels, value: number]>): void;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: Labels;
  samples(): Iterable<Sample>;
}

const SEPARATOR = '\u0000';

/** Children by label values, created on first use. */
class Children<Child> {
  readonly #labels: Labels;
  readonly #make: () => Child;
  readonly #name: string;
  readonly #children = new Map<string, { values: Labels; child: Child }>();

  constructor(name: string, labels: Labels, make: () => Child) {
    this.#name = name;
    this.#labels = labels;
    this.#make = make;
    // A metric without labels is exported from the start.
    if (labels.length === 0) this.with();
  }

  with(...values: string[]): Child {
    if (values.length !== this.#labels.length)
      throw new Error(`${this.#name} has the labels ${this.#labels.join(', ')}`);
    const key = values.join(SEPARATOR);
    let entry = this.#children.get(key);
    if (entry === undefined) {
      entry = { values, child: this.#make() };
      this.#children.set(key, entry);
    }
    return entry.child;
  }

  remove(...values: string[]): void {
    this.#children.delete(values.join(SEPARATOR));
  }

  entries(): Iterable<{ values: Labels; child: Child }> {
    return this.#children.values();
  }
}

class Value implements Counter, Gauge {
  value = 0;
  inc(by = 1): void {
    this.value += by;
  }
  add(by: number): void {
    this.value += by;
  }
  set(value: number): void {
    this.value = value;
  }
}

class Buckets implements Histogram {
  readonly #bounds: readonly number[];
  readonly counts: Float64Array;
  count = 0;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length);
  }

  observe(value: number): void {
    this.count++;
    this.sum += value;
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at !== -1) this.counts[at]!++;
  }
}

export class Registry {
  readonly #metrics = new Map<string, { metric: Metric; family: unknown }>();

  counter(name: string, help: string, labels: Labels = []): Family<Counter> {
    return this.#register('counter', name, labels, () => {
      const children = new Children<Counter>(name, labels, () => new Value());
      return {
        family: children,
        metric: { name, help, type: 'counter', labels, samples: () => plain(children) },
      };
    });
  }

  gauge(name: string, help: string, labels: Labels = []): GaugeFamily {
    return this.#register('gauge', name, labels, () => {
      const children = new Children<Gauge>(name, labels, () => new Value());
      const reads: (() => Iterable<readonly [Labels, number]>)[] = [];
      const family: GaugeFamily = {
        with: (...values) => children.with(...values),
        remove: (...values) => children.remove(...values),
        collect: (read) => {
          reads.push(read);
          if (labels.length === 0) children.remove();
        },
      };
      const samples = function* (): Generator<Sample> {
        yield* plain(children);
        for (const read of reads) for (const [values, value] of read()) yield { suffix: '', values, value };
      };
      return { family, metric: { name, help, type: 'gauge', labels, samples } };
    });
  }

  /** `bounds` are upper limits in ascending order; +Inf is added. */
  histogram(name: string, help: string, labels: Labels, bounds: readonly number[]): Family<Histogram> {
    return this.#register('histogram', name, labels, () => {
      const children = new Children<Buckets>(name, labels, () => new Buckets(bounds));
      const samples = () => cumulative(children, bounds);
      return { family: children, metric: { name, help, type: 'histogram', labels, samples } };
    });
  }

  /** All metrics in the text exposition format. */
  text(): string {
    return textOf([...this.#metrics.values()].map(({ metric }) => metric));
  }

  #register<F>(
    type: Metric['type'],
    name: string,
    labels: Labels,
    make: () => { metric: Metric; family: F },
  ): F {
    const known = this.#metrics.get(name);
    if (known === undefined) {
      const made = make();
      this.#metrics.set(name, made);
      return made.family;
    }
    if (known.metric.type !== type || known.metric.labels.join() !== labels.join())
      throw new Error(`metric ${name} is already registered with another type or other labels`);
    return known.family as F;
  }
}

function* plain(children: Children<Counter | Gauge>): Generator<Sample> {
  for (const { values, child } of children.entries()) yield { suffix: '', values, value: child.value };
}

function* cumulative(children: Children<Buckets>, bounds: readonly number[]): Generator<Sample> {
  for (const { values, child } of children.entries()) {
    let sum = 0;
    for (const [i, bound] of bounds.entries()) {
      sum += child.counts[i]!;
      yield { suffix: '_bucket', values, le: bound, value: sum };
    }
    yield { suffix: '_bucket', values, le: Number.POSITIVE_INFINITY, value: child.count };
    yield { suffix: '_sum', values, value: child.sum };
    yield { suffix: '_count', values, value: child.count };
  }
}
