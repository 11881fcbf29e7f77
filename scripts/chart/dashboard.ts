// The Grafana dashboard, as a table of panels: the most important ones are at the top.

interface Query {
  readonly expr: string;
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  readonly queries: readonly Query[];
}

const query = (expr: string, legend: string): Query => ({ expr, legend });
const quantile = (q: number, metric: string) =>
  `histogram_quantile(${q}, sum by (le, controller) (rate(${metric}_bucket{namespace="$namespace"}[$__rate_interval])))`;
const rate = (metric: string, by: string, more = '') =>
  `sum by (${by}) (rate(${metric}{namespace="$namespace"${more}}[$__rate_interval]))`;
const top = (metric: string, by: string) => `max by (${by}) (${metric}{namespace="$namespace"})`;

const PANELS: readonly Panel[] = [
  {
    title: 'Lag of deletions',
    description: 'From the deadline to the accepted deletion.',
    unit: 's',
    queries: [
      query(quantile(0.5, 'lapse_deletion_lag_seconds'), '{{controller}} median'),
      query(quantile(0.99, 'lapse_deletion_lag_seconds'), '{{controller}} 99th'),
    ],
  },
  {
    title: 'Overdue',
    description: 'Objects whose deadline has passed and which are still there.',
    unit: 'short',
    queries: [
      query(top('lapse_deletions_due', 'controller'), '{{controller}}'),
      query(top('lapse_ttl_due', 'kind'), '{{kind}}'),
    ],
  },
  {
    title: 'Deletions',
    description: 'Attempts by what came of them.',
    unit: 'ops',
    queries: [query(rate('lapse_deletions_total', 'controller, outcome'), '{{controller}} {{outcome}}')],
  },
  {
    title: 'Waiting',
    description: 'Objects with a deadline ahead.',
    unit: 'short',
    queries: [
      query(top('lapse_ttl_waiting', 'kind'), '{{kind}}'),
      query(top('lapse_workqueue_waiting', 'name'), 'queue {{name}}'),
    ],
  },
  {
    title: 'Who leads',
    description: '1 for the process that acts.',
    unit: 'short',
    queries: [query('leader_election_master_status{namespace="$namespace"}', '{{pod}}')],
  },
  {
    title: 'Passes',
    description: 'By what they came to.',
    unit: 'ops',
    queries: [
      query(rate('controller_runtime_reconcile_total', 'controller, result'), '{{controller}} {{result}}'),
    ],
  },
  {
    title: 'Requests to the API server',
    description: 'By answer.',
    unit: 'reqps',
    queries: [query(rate('rest_client_requests_total', 'code, method'), '{{method}} {{code}}')],
  },
  {
    title: 'Refused and lost',
    description: 'Rights that are missing, conflicts, caches that cannot watch.',
    unit: 'short',
    queries: [
      query(rate('lapse_forbidden_total', 'controller'), '403 {{controller}}'),
      query(rate('lapse_deletion_conflicts_total', 'controller'), 'conflicts {{controller}}'),
      query(top('lapse_cache_problem', 'source'), 'cannot watch {{source}}'),
    ],
  },
  {
    title: 'Cleaners',
    description: 'Evaluations of conditions, and decisions.',
    unit: 'ops',
    queries: [
      query(
        'sum(rate(lapse_cleaner_evaluations_total{namespace="$namespace"}[$__rate_interval]))',
        'evaluations',
      ),
      query(
        'sum(rate(lapse_cleaner_decisions_total{namespace="$namespace"}[$__rate_interval]))',
        'decisions',
      ),
    ],
  },
  {
    title: 'Reviews',
    description: 'Admission reviews by result.',
    unit: 'ops',
    queries: [query(rate('lapse_webhook_reviews_total', 'webhook, result'), '{{webhook}} {{result}}')],
  },
  {
    title: 'Objects in memory',
    description: 'What the caches hold; memory follows it.',
    unit: 'short',
    queries: [query(top('lapse_cache_objects', 'source'), '{{source}}')],
  },
  {
    title: 'Clock',
    description: 'How far the API server is ahead. Beyond the limit nothing is deleted.',
    unit: 's',
    queries: [query('lapse_clock_skew_seconds{namespace="$namespace"}', '{{pod}}')],
  },
];

const WIDTH = 12;
const HEIGHT = 8;

export function buildDashboard(): object {
  return {
    title: 'Lapse',
    uid: 'lapse',
    tags: ['lapse'],
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        {
          name: 'namespace',
          type: 'query',
          datasource: { type: 'prometheus', uid: '$datasource' },
          query: 'label_values(lapse_timers_pending, namespace)',
        },
      ],
    },
    panels: PANELS.map(({ title, description, unit, queries }, at) => ({
      id: at + 1,
      type: 'timeseries',
      title,
      description,
      datasource: { type: 'prometheus', uid: '$datasource' },
      fieldConfig: { defaults: { unit, min: unit === 's' && title === 'Clock' ? null : 0 }, overrides: [] },
      gridPos: { x: (at % 2) * WIDTH, y: Math.floor(at / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
      targets: queries.map(({ expr, legend }, index) => ({
        refId: String.fromCharCode(65 + index),
        expr,
        legendFormat: legend,
      })),
    })),
  };
}
