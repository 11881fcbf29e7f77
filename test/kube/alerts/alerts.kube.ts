// Every alert of the chart: what makes it fire, and near misses that must not. Prometheus' own engine evaluates all
// rules for each row, over series of an installation that is healthy except for what the row changes.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type AlertingRule, evaluateAlerts } from './evaluate.ts';

const CHART = join(import.meta.dirname, '../../../config/chart');
const read = (path: string): string => readFileSync(join(CHART, path), 'utf8');

const lagSeconds = String(parse(read('values.yaml')).prometheusRule.lagSeconds);
const rules = parse(
  read('files/alerts.yaml').replaceAll('LAG_SECONDS', lagSeconds).replaceAll('NAMESPACE', 'lapse'),
) as AlertingRule[];

const MINUTES = 120;
/** Series of one metric by their labels; `namespace` is added. Values are one per minute. */
type Metric = Readonly<Record<string, string>>;
type Metrics = Readonly<Record<string, Metric>>;

const constant = (value: number) => `${value}x${MINUTES}`;
const perMinute = (by: number) => `0+${by}x${MINUTES}`;
/** `value` for this many minutes at the end, 0 before. */
const lastMinutes = (minutes: number, value = 1) => `0x${MINUTES - minutes} ${value}x${minutes - 1}`;
/** A counter that grows by one at each of these minutes. */
const grownAt = (...at: number[]) => {
  const values = Array.from({ length: MINUTES + 1 }, (_, m) => at.filter((minute) => minute <= m).length);
  return values.join(' ');
};

/** Deletions per minute by the upper bound of their lag. */
const lags = (counts: Readonly<Record<string, number>>): Metric => {
  const bounds = ['0.4', '3.2', '6.4', '12.8', '819.2', '+Inf'];
  let total = 0;
  const series: Record<string, string> = {};
  for (const le of bounds) {
    total += counts[le] ?? 0;
    series[`controller="ttl-after-finished",le="${le}"`] = perMinute(total);
  }
  return series;
};

const WELL: Metrics = {
  lapse_deletion_lag_seconds_bucket: lags({ '0.4': 60 }),
  lapse_deletions_oldest_due_seconds: { 'controller="ttl-after-finished"': constant(2) },
  lapse_deletions_due: { 'controller="ttl-after-finished"': constant(50) },
  leader_election_master_status: { 'pod="a",name="lapse"': constant(1), 'pod="b",name="lapse"': constant(0) },
  kube_pod_container_status_restarts_total: { 'pod="a",container="lapse"': constant(7) },
  lapse_cache_problem: { 'source="batch/v1/jobs"': constant(0) },
  lapse_forbidden_total: { 'controller="ttl-after-finished"': constant(3) },
  rest_client_requests_total: {
    'code="200",method="GET"': perMinute(60),
    'code="500",method="GET"': '0x120',
  },
  lapse_clock_held: { 'pod="a"': constant(0), 'pod="b"': constant(0) },
  lapse_webhook_reviews_total: {
    'webhook="ttlpolicies",result="allowed"': perMinute(1),
    'webhook="ttlpolicies",result="denied"': perMinute(1),
    'webhook="ttlpolicies",result="error"': constant(2),
  },
};

const seriesOf = (metrics: Metrics): string[] =>
  Object.entries(metrics).flatMap(([name, metric]) =>
    Object.entries(metric).map(([labels, values]) => {
      const namespace = labels.includes('namespace=') ? '' : 'namespace="lapse",';
      return `${name}{${namespace}${labels}} ${values}`;
    }),
  );

interface Row {
  readonly when: string;
  readonly metrics: Metrics;
}
const row = (when: string, metrics: Metrics): Row => ({ when, metrics });
const requests = (failed: number, code: string) =>
  ({
    'code="200",method="GET"': perMinute(100 - failed),
    [`code="${code}",method="GET"`]: perMinute(failed),
  }) as Metric;

const CASES: Readonly<Record<string, { readonly fires: readonly Row[]; readonly silent: readonly Row[] }>> = {
  LapseDeletionsLate: {
    fires: [
      row('two of a hundred deletions take longer than the limit', {
        lapse_deletion_lag_seconds_bucket: lags({ '0.4': 98, '12.8': 2 }),
      }),
    ],
    silent: [
      row('one of two hundred deletions takes longer', {
        lapse_deletion_lag_seconds_bucket: lags({ '0.4': 199, '12.8': 1 }),
      }),
      row('every deletion takes as long as the objective allows', {
        lapse_deletion_lag_seconds_bucket: lags({ '6.4': 100 }),
      }),
      row('nothing is deleted', { lapse_deletion_lag_seconds_bucket: lags({}) }),
    ],
  },
  LapseDeletionsStuck: {
    fires: [
      row('a finalizer keeps an object for more than half an hour', {
        lapse_deletions_oldest_due_seconds: { 'controller="ttl-after-finished"': perMinute(60) },
      }),
    ],
    silent: [
      row('objects are due all the time, and each is deleted within minutes', {
        lapse_deletions_oldest_due_seconds: { 'controller="ttl-after-finished"': constant(300) },
        lapse_deletions_due: { 'controller="ttl-after-finished"': constant(5000) },
      }),
      row('an object is overdue for half an hour, and is deleted then', {
        lapse_deletions_oldest_due_seconds: { 'controller="ttl-after-finished"': lastMinutes(4, 1900) },
      }),
    ],
  },
  LapseNoLeader: {
    fires: [
      row('no replica leads', {
        leader_election_master_status: {
          'pod="a",name="lapse"': constant(0),
          'pod="b",name="lapse"': constant(0),
        },
      }),
      row('no replica is scraped', { leader_election_master_status: {} }),
    ],
    silent: [
      row('the lead changes within two minutes', {
        leader_election_master_status: {
          'pod="a",name="lapse"': `1x110 0x9`,
          'pod="b",name="lapse"': `0x112 1x7`,
        },
      }),
    ],
  },
  LapseRestarts: {
    fires: [
      row('three restarts within an hour', {
        kube_pod_container_status_restarts_total: { 'pod="a",container="lapse"': grownAt(70, 90, 110) },
      }),
    ],
    silent: [
      row('a restart every hour', {
        kube_pod_container_status_restarts_total: { 'pod="a",container="lapse"': grownAt(10, 50, 110) },
      }),
      row('another container restarts', {
        kube_pod_container_status_restarts_total: { 'pod="a",container="sidecar"': perMinute(1) },
      }),
    ],
  },
  LapseCannotWatch: {
    fires: [
      row('a watch is refused', { lapse_cache_problem: { 'source="batch/v1/jobs"': lastMinutes(15) } }),
    ],
    silent: [
      row('a watch is refused for five minutes', {
        lapse_cache_problem: { 'source="batch/v1/jobs"': lastMinutes(5) },
      }),
    ],
  },
  LapseForbidden: {
    fires: [
      row('requests are refused again and again', {
        lapse_forbidden_total: { 'controller="ttl-after-finished"': `0x80 0+1x40` },
      }),
    ],
    silent: [
      row('one request is refused', {
        lapse_forbidden_total: { 'controller="ttl-after-finished"': grownAt(106) },
      }),
    ],
  },
  LapseRequestsFail: {
    fires: [
      row('6 % of the answers are 500', { rest_client_requests_total: requests(6, '500') }),
      row('6 % of the requests are not answered', { rest_client_requests_total: requests(6, '<error>') }),
      row('6 % of the answers are 429', { rest_client_requests_total: requests(6, '429') }),
    ],
    silent: [
      row('4 % of the answers are 500', { rest_client_requests_total: requests(4, '500') }),
      row('half of the answers are 409', { rest_client_requests_total: requests(50, '409') }),
    ],
  },
  LapseClockWrong: {
    fires: [
      row('deletions are held because of the clocks', {
        lapse_clock_held: { 'pod="a"': lastMinutes(6), 'pod="b"': constant(0) },
      }),
    ],
    silent: [
      row('deletions are held for three minutes', {
        lapse_clock_held: { 'pod="a"': lastMinutes(3), 'pod="b"': constant(0) },
      }),
    ],
  },
  LapseStoppedAtLimit: {
    fires: [
      row('a policy is stopped', {
        lapse_limit_stopped: {
          'pod="a",rule="TTLPolicy"': lastMinutes(3),
          'pod="b",rule="TTLPolicy"': constant(0),
        },
      }),
    ],
    silent: [
      row('no policy is stopped', { lapse_limit_stopped: { 'pod="a",rule="TTLPolicy"': constant(0) } }),
    ],
  },
  LapseReviewsFail: {
    fires: [
      row('reviews end with errors', {
        lapse_webhook_reviews_total: { 'webhook="ttlpolicies",result="error"': `0x100 0+1x20` },
      }),
    ],
    silent: [
      row('policies are denied', {
        lapse_webhook_reviews_total: { 'webhook="ttlpolicies",result="denied"': perMinute(5) },
      }),
    ],
  },
};

const OTHER_NAMESPACE: Metrics = Object.fromEntries(
  Object.entries(CASES).flatMap(([, { fires }]) =>
    Object.entries(fires[0]!.metrics).map(([name, metric]) => [
      name,
      {
        ...WELL[name],
        ...Object.fromEntries(
          Object.entries(metric).map(([labels, values]) => [`namespace="other",${labels}`, values]),
        ),
      },
    ]),
  ),
);

const rows = Object.entries(CASES).flatMap(([alert, { fires, silent }]) => [
  ...fires.map((one) => ({ name: `${alert} fires when ${one.when}`, ...one, expected: [alert] })),
  ...silent.map((one) => ({ name: `${alert} is silent when ${one.when}`, ...one, expected: [] as string[] })),
]);
rows.push(
  { name: 'nothing fires if everything is healthy', when: '', metrics: {}, expected: [] },
  { name: 'nothing fires for another installation', when: '', metrics: OTHER_NAMESPACE, expected: [] },
);

test('every alert has a row that makes it fire and one that keeps it silent', () => {
  expect(Object.keys(CASES).sort()).toEqual(rules.map(({ alert }) => alert).sort());
  for (const { fires, silent } of Object.values(CASES)) {
    expect(fires.length).toBeGreaterThan(0);
    expect(silent.length).toBeGreaterThan(0);
  }
});

describe('the alerts of the chart', () => {
  const answers = evaluateAlerts(
    rows.map(({ metrics }) => ({ rules, series: seriesOf({ ...WELL, ...metrics }), minutes: MINUTES })),
  );
  test.each(rows.map(({ name, expected }, i) => [name, expected, answers[i]!] as const))(
    '%s',
    (_name, expected, firing) => {
      expect(firing.map(({ alert }) => alert)).toEqual(expected);
      for (const { annotations } of firing)
        for (const text of Object.values(annotations))
          expect(text).not.toMatch(/error expanding|<no value>|NaN/);
    },
  );
});
