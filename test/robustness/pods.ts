// Finished Pods with a TTL annotation. Some have a finish time, some have one for one container only, and some have
// none: those count from when the process first saw them.

import { formatTime, type Instant, millis, minutes, parseTime, plus, seconds } from '@lapse/base/instant';
import { Pod } from '@lapse/kube/api/kinds/builtin';
import { POD_TTL_ANNOTATION } from 'lapse/expiry/pod';
import { composeFamilies, findFamily } from '../scenarios/compose.ts';
import type { Subject } from './subject.ts';

type Status = NonNullable<Pod['status']>;

const container = (name: string, finishedAt?: string) => ({
  name,
  image: 'busybox',
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { terminated: { exitCode: 0, ...(finishedAt === undefined ? {} : { finishedAt }) } },
});

/** By the name of the Pod; others have a finish time. */
const STATUSES: Readonly<Record<string, (now: Instant) => Status>> = {
  c: (now) => ({
    phase: 'Failed',
    reason: 'Evicted',
    containerStatuses: [container('fetch', formatTime(plus(now, millis(-minutes(60))))), container('main')],
    conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: formatTime(now) }],
  }),
  d: () => ({ phase: 'Failed', reason: 'NodeLost' }),
};
const succeeded = (now: Instant): Status => ({
  phase: 'Succeeded',
  containerStatuses: [container('main', formatTime(now))],
});

const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** A Pod without a finish time has not finished before it was created. */
function finishOf({ metadata, status }: Pod): Instant {
  const [condition] = status?.conditions ?? [];
  const [first] = status?.containerStatuses ?? [];
  const told = condition?.lastTransitionTime ?? first?.state?.terminated?.finishedAt;
  return parseTime(told ?? metadata.creationTimestamp!);
}

const secondsUntil = (from: Instant, to: Instant): string =>
  String(Math.max(0, Math.ceil((to - from) / 1000)));

export const pods: Subject = {
  name: 'ttl-after-finished, Pods',
  kind: Pod,
  resource: 'pods',
  compose: composeFamilies({
    families: [findFamily('ttl-after-finished')],
    controllers: [],
    configuration: {},
    gates: { TTLAfterFinishedPods: true },
  }),
  create: (name, ends, now) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', annotations: { [POD_TTL_ANNOTATION]: secondsUntil(now, ends) } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
    status: (STATUSES[name] ?? succeeded)(now),
  }),
  moveEnd: (object, ends) => ({
    metadata: { annotations: { [POD_TTL_ANNOTATION]: secondsUntil(finishOf(object as Pod), ends) } },
  }),
  deadlineOf: (object) => {
    const ttl = object.metadata.annotations?.[POD_TTL_ANNOTATION];
    if (!isFinished(object as Pod) || ttl === undefined) return undefined;
    return plus(finishOf(object as Pod), seconds(Number(ttl)));
  },
  isTerminal: (object) => isFinished(object as Pod),
};
