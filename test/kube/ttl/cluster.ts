// For the TTL tests on a real Kubernetes: an account with exactly the declared rights, `lapse run` processes that use
// it, and finished Jobs and Pods as their controllers leave them.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { realClock } from '@lapse/base/clock';
import { formatTime, instant } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { undiciTransport } from '@lapse/kube/client/undici';
import { rightsOf } from '@lapse/runtime/definition';
import { Registry } from '@lapse/runtime/metrics/registry';
import type { Services } from 'lapse/controllers/family';
import { ttlAfterFinishedFamily } from 'lapse/controllers/ttl-after-finished/family';
import { trustedTime } from 'lapse/deletion/skewGuard';
import { LapseProcess } from '../../cmd/lapseProcess.ts';
import type { Bed } from '../bed/bed.ts';

export const ACCOUNT = 'system:serviceaccount:lapse-system:lapse';
const CONFIGURATION = {
  concurrency: 32,
  jobPropagation: 'Foreground',
  jobDeletionEvents: false,
  podDeletionEvents: true,
};

export function adminOf(bed: Bed): { client: Client; close: () => Promise<void> } {
  const tls = { ca: readFileSync(bed.caFile, 'utf8') };
  const transport = undiciTransport({ server: bed.url, clock: realClock, tls });
  const credentials = fixedCredentials({ headers: bearer(bed.adminToken) });
  const client = createClient({ transport, clock: realClock, random: systemRandom, credentials });
  return { client, close: () => transport.close() };
}

/** The declared rights of the family, unchanged, and those of every process: its lease, and Events. */
function rulesOf(): { apiGroups: string[]; resources: string[]; verbs: string[] }[] {
  const services = {
    clock: realClock,
    registry: new Registry(),
    log: silentLog,
    guard: trustedTime(realClock),
    isEnabled: () => true,
  };
  const { controllers } = ttlAfterFinishedFamily.create(services as unknown as Services, {
    ttlAfterFinished: CONFIGURATION,
  });
  const declared = controllers.flatMap(rightsOf);
  return [
    ...declared.map(({ group, resource, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [...verbs],
    })),
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
  ];
}

/** The account, its role, and the path of a kubeconfig with its token. */
export async function createAccount(bed: Bed): Promise<string> {
  const of = (kind: string, apiVersion: string, rest: object) => ({
    apiVersion,
    kind,
    metadata: { name: 'lapse', namespace: 'lapse-system' },
    ...rest,
  });
  const subject = { kind: 'ServiceAccount', name: 'lapse', namespace: 'lapse-system' };
  const file = join(bed.directory, 'account.json');
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lapse-system' } },
    of('ServiceAccount', 'v1', {}),
    {
      ...of('ClusterRole', 'rbac.authorization.k8s.io/v1', { rules: rulesOf() }),
      metadata: { name: 'lapse' },
    },
    {
      ...of('ClusterRoleBinding', 'rbac.authorization.k8s.io/v1', {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'lapse' },
        subjects: [subject],
      }),
      metadata: { name: 'lapse' },
    },
  ];
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await bed.kubectl('apply', '-f', file);
  const token = (await bed.kubectl('create', 'token', 'lapse', '-n', 'lapse-system')).trim();
  const kubeconfig = join(bed.directory, 'account.kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    clusters: [{ name: 'x', cluster: { server: bed.url, 'certificate-authority': bed.caFile } }],
    users: [{ name: 'x', user: { token } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return kubeconfig;
}

export const lapse = (kubeconfig: string, ...more: string[]): LapseProcess =>
  new LapseProcess([
    'run',
    `--kubeconfig=${kubeconfig}`,
    '--controllers=ttl-after-finished',
    '--feature-gates=TTLAfterFinishedPods=true',
    '--leader-elect-resource-namespace=lapse-system',
    '--leader-elect-lease-duration=4s',
    '--leader-elect-renew-deadline=3s',
    '--leader-elect-retry-period=500ms',
    '--metrics-bind-address=0',
    '--log-format=json',
    ...more,
  ]);

export const key = (name: string) => ({ namespace: 'default', name });
const container = { name: 'main', image: 'example.com/report:1' };

export async function createJob(
  client: Client,
  name: string,
  ttl?: number,
  annotations: Record<string, string> = {},
): Promise<Job> {
  const spec = {
    template: { spec: { restartPolicy: 'Never', containers: [container] } },
    ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }),
  };
  const made = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default', annotations },
    spec,
  };
  return objectOf(await client.create(Job, made));
}

/** Whole seconds since the epoch. */
export const thisSecond = (): number => Math.floor(Date.now() / 1000);
export const time = (second: number): string => formatTime(instant(second * 1000));

export async function finishJob(client: Client, name: string, second = thisSecond()): Promise<void> {
  const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: time(second),
  }));
  const status = { startTime: time(second), completionTime: time(second), succeeded: 1, conditions };
  objectOf(
    await client.patch(Job, key(name), { type: 'merge', patch: { status } }, { subresource: 'status' }),
  );
}

export async function finishedJob(
  client: Client,
  name: string,
  ttl?: number,
  annotations?: Record<string, string>,
): Promise<void> {
  await createJob(client, name, ttl, annotations);
  await finishJob(client, name);
}

export async function createPod(
  client: Client,
  name: string,
  more: { metadata?: object; spec?: object } = {},
): Promise<Pod> {
  const made = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...more.metadata },
    spec: { restartPolicy: 'Never', containers: [container], ...more.spec },
  };
  return objectOf(await client.create(Pod, made));
}

export async function setPodStatus(client: Client, name: string, status: object): Promise<void> {
  objectOf(
    await client.patch(Pod, key(name), { type: 'merge', patch: { status } }, { subresource: 'status' }),
  );
}

interface Audited {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
}

/** All answered requests. */
export const auditedIn = (bed: Bed): Audited[] =>
  readFileSync(bed.auditLogFile!, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"stage":"ResponseComplete"'))
    .map((line) => JSON.parse(line) as Audited);

/** Executed deletions by Lapse of objects whose names have this prefix. */
export const deletionsIn = (bed: Bed, prefix: string): Audited[] =>
  auditedIn(bed).filter(
    ({ verb, user, objectRef, responseStatus }) =>
      verb === 'delete' &&
      user.username === ACCOUNT &&
      objectRef?.name?.startsWith(prefix) &&
      responseStatus!.code < 300,
  );

/** Names with this prefix of deleted objects: by Lapse, and by others only. */
export function deletersIn(bed: Bed, prefix: string): { readonly ours: string[]; readonly others: string[] } {
  const deleted = auditedIn(bed).filter(
    ({ verb, objectRef, responseStatus }) =>
      verb === 'delete' && objectRef?.name?.startsWith(prefix) && responseStatus!.code < 300,
  );
  const names = new Set(deleted.map(({ objectRef }) => objectRef!.name!));
  // Deletions by Lapse name the resourceVersion of the decision: an accepted one was the first, whichever other client
  // sent one too.
  const ours = new Set(
    deleted.filter(({ user }) => user.username === ACCOUNT).map(({ objectRef }) => objectRef!.name!),
  );
  return { ours: [...ours], others: [...names].filter((name) => !ours.has(name)) };
}

/** On a port chosen by the system. */
export const SERVING_METRICS = '--metrics-bind-address=127.0.0.1:0';

/** The current metrics of a process that serves them. */
export async function metricsOf(process: LapseProcess): Promise<string> {
  const [, port] = await process.says(/"serving \/healthz.*"port":(\d+)/);
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** The sum of the matching series; zero if there are none. */
export const sumOf = (metrics: string, series: RegExp): number =>
  metrics
    .split('\n')
    .filter((line) => series.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
