// Jobs and CronJobs.

import { del, get, type Probe, patch, post, put, resource, strategic } from './probe.ts';

const job = resource('batch/v1', 'Job', 'jobs');
const cronJob = resource('batch/v1', 'CronJob', 'cronjobs');

const pod = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] };
const template = { spec: pod };
const spec = (fields: object = {}) => ({ spec: { template, ...fields } });
const indexed = { completionMode: 'Indexed', completions: 5, parallelism: 2 };
const started = { status: { startTime: '2024-01-01T00:00:00Z', active: 1, ready: 0 } };
const condition = (type: string, status = 'True') => ({
  type,
  status,
  lastProbeTime: '2024-01-01T00:05:00Z',
  lastTransitionTime: '2024-01-01T00:05:00Z',
});
const complete = {
  status: {
    active: 0,
    succeeded: 1,
    completionTime: '2024-01-01T00:05:00Z',
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
  },
};
const failed = {
  status: { active: 0, failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] },
};
const rule = (fields: object) => ({ podFailurePolicy: { rules: [fields] } });
const onExit = (fields: object) => rule({ action: 'FailJob', onExitCodes: fields });
const cron = (fields: object = {}) => ({ spec: { schedule: '* * * * *', jobTemplate: spec(), ...fields } });

export const probes: readonly Probe[] = [
  job.create('defaults', spec()),
  job.create('labels of its own', spec(), { labels: { a: 'b' } }),
  job.create('template labels', { spec: { template: { metadata: { labels: { t: 'x' } }, spec: pod } } }),
  job.create('empty labels', { spec: { template: { metadata: { labels: {} }, spec: pod } } }, { labels: {} }),
  {
    name: 'Job: generateName',
    steps: [post(job.all, { ...job.object({}), metadata: { generateName: 'gen-' }, ...spec() })],
  },
  job.create('no spec at all', {}),
  job.create('name that is no label', spec(), { name: 'a.b' }),
  job.create('manual selector', {
    spec: {
      manualSelector: true,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: pod },
    },
  }),
  job.create('manual selector that misses', {
    spec: { manualSelector: true, selector: { matchLabels: { a: 'b' } }, template },
  }),
  job.create('manual without selector', { spec: { manualSelector: true, template } }),
  job.create('bad manual selector', {
    spec: {
      manualSelector: true,
      selector: {
        matchExpressions: [
          { key: 'a b', operator: 'Odd' },
          { key: 'c', operator: 'In' },
          { key: 'd', operator: 'Exists', values: ['x'] },
        ],
      },
      template,
    },
  }),
  job.create('conflicting template labels', {
    spec: { template: { metadata: { labels: { 'controller-uid': 'x', 'job-name': 'y' } }, spec: pod } },
  }),
  job.create('zero completions', spec({ completions: 0 })),
  job.create('parallelism only', spec({ parallelism: 3 })),
  job.create(
    'negative numbers',
    spec({
      parallelism: -1,
      completions: -1,
      backoffLimit: -1,
      ttlSecondsAfterFinished: -1,
      activeDeadlineSeconds: -1,
      backoffLimitPerIndex: -1,
      maxFailedIndexes: -2,
    }),
  ),
  job.create('indexed', spec(indexed)),
  job.create('indexed without completions', spec({ completionMode: 'Indexed' })),
  job.create('odd mode', spec({ completionMode: 'Odd' })),
  job.create(
    'indexed limits',
    spec({ ...indexed, parallelism: 100001, completions: 200000, backoffLimitPerIndex: 1 }),
  ),
  job.create(
    'indexed failure limits',
    spec({ ...indexed, completions: 200000, backoffLimitPerIndex: 1, maxFailedIndexes: 20000 }),
  ),
  job.create(
    'more failures than completions',
    spec({ ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 9 }),
  ),
  job.create('many of many', spec({ ...indexed, completions: 200000, parallelism: 20000 })),
  job.create('backoff per index', spec({ ...indexed, backoffLimitPerIndex: 2 })),
  job.create('index settings without index', spec({ backoffLimitPerIndex: 2, maxFailedIndexes: 1 })),
  job.create('failed indexes without backoff', spec({ ...indexed, maxFailedIndexes: 1 })),
  job.create('indexed host name too long', spec(indexed), { name: `a${'b'.repeat(61)}` }),
  job.create('managedBy empty', spec({ managedBy: '' })),
  job.create('managedBy path', spec({ managedBy: 'Exa_mple/fo o' })),
  job.create('managedBy long', spec({ managedBy: `example.com/${'x'.repeat(60)}` })),
  job.create('replacement policy', spec({ podReplacementPolicy: 'Odd' })),
  job.create(
    'replacement with failure policy',
    spec({ podReplacementPolicy: 'TerminatingOrFailed', ...onExit({ operator: 'In', values: [1] }) }),
  ),
  job.create('failure policy without rules', spec({ podFailurePolicy: { rules: [] } })),
  job.create('failure rule empty', spec(rule({}))),
  job.create(
    'failure rule of both',
    spec(
      rule({
        action: 'Ignore',
        onExitCodes: { operator: 'In', values: [1] },
        onPodConditions: [{ type: 'DisruptionTarget' }],
      }),
    ),
  ),
  job.create(
    'failure rule odd',
    spec(rule({ action: 'Odd', onPodConditions: [{ type: 'b c', status: 'Maybe' }] })),
  ),
  job.create('exit codes', spec(onExit({ operator: 'In', values: [3, 0, 2, 2], containerName: 'nope' }))),
  job.create('exit codes empty', spec(onExit({ operator: '', values: [] }))),
  job.create(
    'fail index without limit',
    spec({ ...indexed, ...rule({ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }) }),
  ),
  job.create(
    'success policy',
    spec({ ...indexed, successPolicy: { rules: [{ succeededIndexes: '0-2', succeededCount: 2 }] } }),
  ),
  job.create('success policy not indexed', spec({ successPolicy: { rules: [{ succeededCount: 1 }] } })),
  job.create(
    'success rules',
    spec({
      ...indexed,
      successPolicy: {
        rules: [
          {},
          { succeededIndexes: '3-1' },
          { succeededIndexes: '9', succeededCount: 9 },
          { succeededIndexes: 'a,b' },
          { succeededIndexes: '1-2-3' },
          { succeededCount: -1 },
        ],
      },
    }),
  ),
  job.create('no success rules', spec({ ...indexed, successPolicy: { rules: [] } })),
  job.create('always restarts', { spec: { template: { spec: { containers: pod.containers } } } }),
  job.create('odd restart', { spec: { template: { spec: { ...pod, restartPolicy: 'Sometimes' } } } }),
  job.create('template errors', {
    spec: {
      template: {
        metadata: { labels: { 'a b': 'c' }, annotations: { 'd e': 'f' } },
        spec: { ...pod, containers: [{ name: 'A', image: '' }, { name: 'b' }] },
      },
    },
  }),
  job.create('status is dropped', { ...spec(), status: { active: 3 } }),
  job.patches(
    'what may change',
    spec(),
    { spec: { parallelism: 5 } },
    { spec: { suspend: true } },
    { spec: { ttlSecondsAfterFinished: 10 } },
    { spec: { backoffLimit: 1 } },
    { spec: { activeDeadlineSeconds: 5 } },
    { spec: { completions: 2 } },
    { spec: { completionMode: 'Indexed' } },
    { spec: { manualSelector: true } },
    { spec: { selector: { matchLabels: { a: 'b' } } } },
    { spec: { podFailurePolicy: { rules: [] } } },
    { spec: { backoffLimitPerIndex: 1 } },
    { spec: { successPolicy: { rules: [{ succeededCount: 1 }] } } },
    { spec: { podReplacementPolicy: 'Failed' } },
    { spec: { parallelism: -1 } },
    { metadata: { labels: null } },
    { metadata: { labels: { 'a b': 'c' } } },
    { metadata: { annotations: { x: 'y' } } },
    { spec: null },
  ),
  job.patches(
    'indexed scales in tandem',
    spec(indexed),
    { spec: { completions: 7 } },
    { spec: { completions: 7, parallelism: 7 } },
    { spec: { completions: null } },
  ),
  job.patches(
    'suspended template',
    spec({ suspend: true }),
    { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } },
    { spec: { template: { metadata: { annotations: { c: 'd' } } } } },
    { spec: { template: { spec: { tolerations: [{ key: 'k', operator: 'Exists' }] } } } },
    {
      spec: {
        template: {
          spec: {
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Exists' }] }],
                },
              },
            },
          },
        },
      },
    },
    { spec: { template: { spec: { schedulingGates: [{ name: 'example.com/g' }] } } } },
    {
      spec: {
        template: {
          spec: { containers: [{ name: 'c', image: 'i:1', resources: { requests: { cpu: '1' } } }] },
        },
      },
    },
    { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } } },
    { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } },
  ),
  job.after(
    'running template',
    spec(),
    strategic(job.one, { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } } }),
    patch(job.one, { spec: { template: { metadata: { labels: { x: 'y' } } } } }),
    patch(`${job.one}/status`, started),
    patch(job.one, { spec: { suspend: true } }),
    patch(job.one, { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } }),
    patch(`${job.one}/status`, { status: { active: 0, conditions: [condition('Suspended')] } }),
    patch(job.one, { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } }),
    patch(`${job.one}/status`, { status: { startTime: null } }),
    patch(job.one, { spec: { suspend: false } }),
    patch(`${job.one}/status`, {
      status: { startTime: '2024-02-01T00:00:00Z', conditions: [condition('Suspended', 'False')] },
    }),
    patch(`${job.one}/status`, { status: { startTime: '2024-03-01T00:00:00Z' } }),
  ),
  job.subPatches(
    'completes',
    'status',
    spec(),
    started,
    complete,
    { status: { completionTime: '2024-01-01T00:06:00Z' } },
    { status: { completionTime: null } },
    { status: { succeeded: 0 } },
    { status: { conditions: [] } },
    { status: { active: 1 } },
    { status: { startTime: null } },
    { status: { ready: 2 } },
    { status: { terminating: 1 } },
    { status: { uncountedTerminatedPods: { succeeded: ['a'] } } },
  ),
  job.subPatches(
    'fails',
    'status',
    spec(),
    started,
    failed,
    complete,
    { status: { failed: 0 } },
    { status: { conditions: [condition('Failed')] } },
    { status: { conditions: [condition('FailureTarget')] } },
    { status: { completionTime: '2024-01-01T00:05:00Z' } },
  ),
  job.subPatches('both at once', 'status', spec(), started, {
    status: {
      active: 0,
      succeeded: 1,
      completionTime: '2024-01-01T00:05:00Z',
      conditions: [
        condition('Complete'),
        condition('Failed'),
        condition('FailureTarget'),
        condition('SuccessCriteriaMet'),
      ],
    },
  }),
  job.subPatches(
    'before it starts',
    'status',
    spec(),
    complete,
    failed,
    { status: { active: -1, succeeded: -1, failed: -1, ready: -1, terminating: -1 } },
    { status: { ready: 1 } },
    { status: { completedIndexes: '0' } },
    { status: { failedIndexes: '' } },
    { status: { uncountedTerminatedPods: { succeeded: ['', 'a'], failed: ['a'] } } },
  ),
  job.subPatches('suspended with nothing to do', 'status', spec({ suspend: true, completions: 0 }), {
    status: {
      completionTime: '2024-01-01T00:05:00Z',
      conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    },
  }),
  job.subPatches(
    'indexes',
    'status',
    spec({ ...indexed, backoffLimitPerIndex: 1 }),
    { status: { completedIndexes: '0,2-3' } },
    { status: { failedIndexes: '1,3' } },
    { status: { failedIndexes: '4,1' } },
    { status: { failedIndexes: '1' } },
    { status: { completedIndexes: '7' } },
    { status: { completedIndexes: '2-2' } },
    { status: { completedIndexes: 'x' } },
    { status: { completedIndexes: '1-2-3' } },
    { status: { succeeded: 3 } },
    { status: { succeeded: 1 } },
  ),
  job.subPatches(
    'tandem counters',
    'status',
    spec({ ...indexed, parallelism: 5 }),
    { status: { succeeded: 3 } },
    { status: { succeeded: 1 } },
  ),
  job.subPatches(
    'criteria',
    'status',
    spec({ ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } }),
    started,
    { status: { conditions: [condition('SuccessCriteriaMet')] } },
    { status: { conditions: [] } },
    { status: { conditions: [condition('SuccessCriteriaMet'), condition('FailureTarget')] } },
    {
      status: {
        conditions: [condition('SuccessCriteriaMet'), condition('Failed'), condition('FailureTarget')],
      },
    },
  ),
  job.subPatches(
    'spec and labels through status',
    'status',
    spec(),
    { spec: { parallelism: 9 }, metadata: { labels: { a: 'b' } } },
    { metadata: { labels: null } },
    { metadata: { finalizers: ['odd'] } },
  ),
  job.after(
    'PUT back what was read',
    spec(),
    put(job.one, job.object({ spec: { template } })),
    put(`${job.one}/status`, job.object({ spec: {}, status: { active: 1 } })),
    get(job.one),
  ),
  job.after(
    'deletes',
    spec(),
    del(`${job.one}?dryRun=All`),
    del(`${job.one}?propagationPolicy=Foreground`),
    del(job.one),
    patch(job.one, { metadata: { finalizers: null } }),
    get(job.one),
  ),
  job.after(
    'delete collection',
    spec(),
    del(job.all),
    get(job.one),
    del(`${job.all}?propagationPolicy=Background`),
    get(job.one),
  ),
  cronJob.create('defaults', cron()),
  cronJob.create('no spec', {}),
  cronJob.create('long name', cron(), { name: 'a'.repeat(53) }),
  ...[
    '* * * *',
    '60 * * * *',
    '*/0 * * * *',
    '5-1 * * * *',
    'a * * * *',
    '* * * * mon-fri',
    '@daily',
    '@odd',
    '@every 1h',
    '@every x',
    '1-2-3 * * * *',
    '1/2/3 * * * *',
    '* * 0 * *',
    '* * * JAN,feb *',
    '-1 * * * *',
    'TZ=UTC * * * * *',
    'CRON_TZ=Nowhere/X * * * * *',
    '0 0 31 2 ?',
    '1,,2 * * * *',
    '99999999999999999999 * * * *',
  ].map((schedule) => cronJob.create(`schedule ${schedule}`, cron({ schedule }))),
  ...[
    '',
    'UTC',
    'Europe/Berlin',
    'europe/berlin',
    'Local',
    'local',
    'Nowhere/Land',
    '../x',
    'Etc/GMT+1',
    'Asia/Calcutta',
  ].map((timeZone) => cronJob.create(`time zone ${timeZone}`, cron({ timeZone }))),
  cronJob.create(
    'odd values',
    cron({
      concurrencyPolicy: 'Odd',
      startingDeadlineSeconds: -1,
      successfulJobsHistoryLimit: -1,
      failedJobsHistoryLimit: -1,
    }),
  ),
  cronJob.create(
    'selector in the template',
    cron({ jobTemplate: spec({ selector: { matchLabels: { b: 'x', a: 'y' } }, manualSelector: true }) }),
  ),
  cronJob.create(
    'bad template',
    cron({ jobTemplate: { spec: { template: { spec: {} }, parallelism: -1 } } }),
  ),
  cronJob.patches(
    'changes',
    cron(),
    { spec: { schedule: 'x' } },
    { spec: { suspend: true } },
    { spec: { timeZone: 'Nope' } },
    { spec: { jobTemplate: { spec: { completions: 3 } } } },
    { status: { lastScheduleTime: '2024-01-01T00:00:00Z' } },
    { metadata: { labels: { 'a b': 'c' } } },
  ),
  cronJob.subPatches('status', 'status', cron(), {
    status: { lastScheduleTime: '2024-01-01T00:00:00Z', active: [{ name: 'a' }] },
    spec: { suspend: true },
  }),
  cronJob.after('deletes', cron(), del(cronJob.one)),
];
