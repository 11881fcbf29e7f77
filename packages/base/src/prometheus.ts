// The text exposition format of Prometheus, version 0.0.4, and histograms.

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: Iterable<Sample>;
}

export interface Sample {
  /** For histograms: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The families in the given order. */
export const formatMetrics = (families: readonly MetricFamily[]): string =>
  families.map(formatFamily).join('');

function formatFamily({ name, help, type, samples }: MetricFamily): string {
  let text = `# HELP ${name} ${help.replace(/[\\\n]/g, escaped)}\n# TYPE ${name} ${type}\n`;
  for (const { suffix = '', labels, value } of samples) {
    text += `${name}${suffix}${labelText(labels)} ${numberText(value)}\n`;
  }
  return text;
}

function labelText(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(
    ([name, value]) => `${name}="${value.replace(/[\\\n"]/g, escaped)}"`,
  );
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

const escaped = (ch: string): string => (ch === '\n' ? '\\n' : `\\${ch}`);

const numberText = (value: number): string =>
  value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value);

/** Observations counted in buckets. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  get count(): number {
    return this.#count;
  }
  get sum(): number {
    return this.#sum;
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count++;
    // Nearly all observations are in the first buckets, so a linear search is fastest.
    for (let i = 0; i < this.#bounds.length; i++) {
      if (value > this.#bounds[i]!) continue;
      this.#counts[i]!++;
      return;
    }
  }

  *samples(labels: Readonly<Record<string, string>>): Generator<Sample> {
    let total = 0;
    for (const [i, bound] of this.#bounds.entries()) {
      total += this.#counts[i]!;
      yield { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: total };
    }
    yield { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: this.#count };
    yield { suffix: '_sum', labels, value: this.#sum };
    yield { suffix: '_count', labels, value: this.#count };
  }
}
