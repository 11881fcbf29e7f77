// Request metrics: one map lookup and a few additions per request.

import { Histogram, type MetricFamily, type Sample } from '@lapse/base/prometheus';

/** The labels of a request, with the values of kube-apiserver's metrics. */
export interface RequestLabels {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** `resource` (one object), `namespace`, `cluster`, or empty for non-resource paths. */
  readonly scope: string;
  readonly dryRun: boolean;
}

interface Series {
  readonly labels: RequestLabels;
  readonly codes: Map<number, number>;
  readonly seconds: Histogram;
}

const SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

export class RequestMetrics {
  readonly #series = new Map<string, Series>();
  readonly #inFlight = { mutating: 0, readOnly: 0 };

  begin(kind: 'mutating' | 'readOnly'): void {
    this.#inFlight[kind]++;
  }

  end(kind: 'mutating' | 'readOnly'): void {
    this.#inFlight[kind]--;
  }

  record(labels: RequestLabels, code: number, seconds: number): void {
    const { verb, group, version, resource, subresource, scope, dryRun } = labels;
    const key = `${verb} ${group}/${version}/${resource}/${subresource} ${scope} ${dryRun}`;
    let series = this.#series.get(key);
    if (!series) {
      series = { labels, codes: new Map(), seconds: new Histogram(SECONDS) };
      this.#series.set(key, series);
    }
    series.codes.set(code, (series.codes.get(code) ?? 0) + 1);
    series.seconds.observe(seconds);
  }

  families(): MetricFamily[] {
    return [
      {
        name: 'apiserver_request_total',
        help: '[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
        type: 'counter',
        samples: this.#totals(),
      },
      {
        name: 'apiserver_request_duration_seconds',
        help: '[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
        type: 'histogram',
        samples: this.#durations(),
      },
      {
        name: 'apiserver_current_inflight_requests',
        help: '[STABLE] Number of requests being answered at this moment, watches not counted, per request kind.',
        type: 'gauge',
        samples: Object.entries(this.#inFlight).map(([request_kind, value]) => ({
          labels: { request_kind },
          value,
        })),
      },
    ];
  }

  *#totals(): Generator<Sample> {
    for (const { labels, codes } of this.#series.values()) {
      for (const [code, value] of codes) yield { labels: { code: String(code), ...shown(labels) }, value };
    }
  }

  *#durations(): Generator<Sample> {
    for (const { labels, seconds } of this.#series.values()) yield* seconds.samples(shown(labels));
  }
}

const shown = ({ verb, group, version, resource, subresource, scope, dryRun }: RequestLabels) => ({
  component: resource === '' ? '' : 'apiserver',
  dry_run: dryRun ? 'All' : '',
  group,
  resource,
  scope,
  subresource,
  verb,
  version,
});
