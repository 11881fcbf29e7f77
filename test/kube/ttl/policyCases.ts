// What the admission policies must refuse, with words of the message, and what they must let through.

export const TTL = 'lapse.dev/ttl-seconds-after-finished';
export const ASKS = { annotations: { [TTL]: '60' } };

const NEEDS = 'needs a restartPolicy of OnFailure or Never';
const selector = { matchLabels: { app: 'x' } };

const template = (metadata: object, restartPolicy: string) => ({
  metadata: { labels: { app: 'x' }, ...metadata },
  spec: { restartPolicy, containers: [{ name: 'main', image: 'example.com/x' }] },
});
const object = (kind: string, apiVersion: string, spec: object, metadata: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name: `vap-${kind.toLowerCase()}`, namespace: 'default', ...metadata },
  spec,
});
const workload = (kind: string, more: object = {}) =>
  object(kind, 'apps/v1', { selector, template: template(ASKS, 'Always'), ...more });
const pod = (restartPolicy: string, metadata: object = {}) =>
  object('Pod', 'v1', template({}, restartPolicy).spec, { ...ASKS, ...metadata });
/** As a controller makes it of a template that had the annotation before. */
const madeBy = (kind: string, apiVersion: string) => ({
  ownerReferences: [
    { apiVersion, kind, name: 'older', uid: '6a1b1e0c-0000-4000-8000-000000000001', controller: true },
  ],
});
const job = { template: template(ASKS, 'Never') };

export const REFUSED: readonly (readonly [manifest: object, message: string])[] = [
  [pod('Always'), NEEDS],
  [object('Job', 'batch/v1', job), 'spec.ttlSecondsAfterFinished'],
  [
    object('CronJob', 'batch/v1', { schedule: '0 0 * * *', jobTemplate: { spec: job } }),
    'spec.jobTemplate.spec.ttlSecondsAfterFinished',
  ],
  [workload('Deployment'), NEEDS],
  [workload('ReplicaSet'), NEEDS],
  [workload('StatefulSet', { serviceName: 'x' }), NEEDS],
  [workload('DaemonSet'), NEEDS],
];

export const ALLOWED: readonly object[] = [
  pod('Never'),
  pod('OnFailure'),
  object('Job', 'batch/v1', { template: template({}, 'Never') }),
  object('Deployment', 'apps/v1', { selector, template: template({}, 'Always') }),
  pod('Always', madeBy('ReplicaSet', 'apps/v1')),
  object(
    'ReplicaSet',
    'apps/v1',
    { selector, template: template(ASKS, 'Always') },
    madeBy('Deployment', 'apps/v1'),
  ),
  object('Job', 'batch/v1', job, madeBy('CronJob', 'batch/v1')),
];
