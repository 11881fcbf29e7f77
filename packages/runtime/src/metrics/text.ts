// Prometheus' text exposition format, version 0.0.4.

import type { Labels, Metric } from './registry.ts';

export interface Sample {
  /** `_bucket`, `_sum`, `_count`, or nothing. */
  readonly suffix: string;
  readonly values: Labels;
  /** Upper bound of a bucket. */
  readonly le?: number;
  readonly value: number;
}

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const escapeHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string) => escapeHelp(text).replaceAll('"', '\\"');

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}

function sampleLine(metric: Metric, { suffix, values, le, value }: Sample): string {
  const pairs = values.map((text, i) => `${metric.labels[i]}="${escapeLabel(text)}"`);
  if (le !== undefined) pairs.push(`le="${numberText(le)}"`);
  const labels = pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  return `${metric.name}${suffix}${labels} ${numberText(value)}\n`;
}

export function textOf(metrics: readonly Metric[]): string {
  let text = '';
  for (const metric of metrics) {
    text += `# HELP ${metric.name} ${escapeHelp(metric.help)}\n# TYPE ${metric.name} ${metric.type}\n`;
    for (const sample of metric.samples()) text += sampleLine(metric, sample);
  }
  return text;
}
