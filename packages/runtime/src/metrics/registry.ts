// A minimal Prometheus metrics registry: counters, gauges and histograms with labels. Updating a bound child costs one
// addition. Registering a name twice returns the same metric, so that controllers can share it.

import { formatMetrics, Histogram as HistogramSamples, type Sample } from '@lapse/base/prometheus';

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
  readonly #children = new Map<string, { labels: Readonly<Record<string, string>>; child: Child }>();

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
      entry = { labels: namedLabels(this.#labels, values), child: this.#make() };
      this.#children.set(key, entry);
    }
    return entry.child;
  }

  remove(...values: string[]): void {
    this.#children.delete(values.join(SEPARATOR));
  }

  entries(): Iterable<{ labels: Readonly<Record<string, string>>; child: Child }> {
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
        for (const read of reads)
          for (const [values, value] of read()) yield { labels: namedLabels(labels, values), value };
      };
      return { family, metric: { name, help, type: 'gauge', labels, samples } };
    });
  }

  /** `bounds` are upper limits in ascending order; +Inf is added. */
  histogram(name: string, help: string, labels: Labels, bounds: readonly number[]): Family<Histogram> {
    return this.#register('histogram', name, labels, () => {
      const children = new Children(name, labels, () => new HistogramSamples(bounds));
      const samples = () => buckets(children);
      return { family: children, metric: { name, help, type: 'histogram', labels, samples } };
    });
  }

  /** All metrics in the text exposition format. */
  text(): string {
    return formatMetrics(
      [...this.#metrics.values()].map(({ metric }) => ({ ...metric, samples: metric.samples() })),
    );
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

const namedLabels = (names: Labels, values: Labels): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name, i) => [name, values[i]!]));

function* plain(children: Children<Counter | Gauge>): Generator<Sample> {
  for (const { labels, child } of children.entries()) yield { labels, value: child.value };
}

function* buckets(children: Children<HistogramSamples>): Generator<Sample> {
  for (const { labels, child } of children.entries()) yield* child.samples(labels);
}
