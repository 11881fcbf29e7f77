// Computes the next status write of an annotated Pod: running, then finished, with the reasons and messages of a kubelet.
// Pure.

import { formatTime, type Instant, isDue, parseTime, plus } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import type { Condition, ContainerStatus, Pod } from '@lapse/kube/api/kinds/builtin';
import { type Finish, parseFinish } from '../finish.ts';
import type { StatusStep } from '../statusStep.ts';

export type PodStatus = NonNullable<Pod['status']>;

export type PodStep = StatusStep<PodStatus>;

const NOTHING: PodStep = { kind: 'nothing' };

interface Ending {
  readonly phase: string;
  /** The reason of the conditions that become False. */
  readonly reason: string;
  readonly exitCode: number;
  readonly containerReason: string;
}
const ENDINGS: Readonly<Record<Finish['result'], Ending>> = {
  succeeded: { phase: 'Succeeded', reason: 'PodCompleted', exitCode: 0, containerReason: 'Completed' },
  failed: { phase: 'Failed', reason: 'PodFailed', exitCode: 1, containerReason: 'Error' },
};

export function computePodStep(pod: Pod, now: Instant): PodStep {
  const { metadata, status = {} } = pod;
  const requested = parseFinish(metadata);
  if (requested === 'none' || metadata.deletionTimestamp !== undefined) return NOTHING;
  if ('problem' in requested) return { kind: 'invalid', problem: requested.problem };
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return NOTHING;
  if (status.startTime === undefined || status.phase !== 'Running')
    return { kind: 'write', status: running(pod, status.startTime ?? formatTime(now), now) };
  const until = plus(parseTime(status.startTime), requested.after);
  return isDue(until, now)
    ? { kind: 'write', status: ended(pod, ENDINGS[requested.result], now) }
    : { kind: 'wait', until };
}

const running = (pod: Pod, startTime: string, now: Instant): PodStatus => ({
  phase: 'Running',
  startTime,
  conditions: withConditions(pod, now, [
    { type: 'Initialized', status: 'True' },
    { type: 'Ready', status: 'True' },
    { type: 'ContainersReady', status: 'True' },
  ]),
  containerStatuses: containers(pod, true, { running: { startedAt: formatTime(now) } }),
});

function ended(pod: Pod, { phase, reason, exitCode, containerReason }: Ending, now: Instant): PodStatus {
  const times = { startedAt: pod.status?.startTime ?? formatTime(now), finishedAt: formatTime(now) };
  return {
    phase,
    conditions: withConditions(pod, now, [
      { type: 'Initialized', status: 'True', ...(exitCode === 0 ? { reason } : {}) },
      { type: 'Ready', status: 'False', reason },
      { type: 'ContainersReady', status: 'False', reason },
    ]),
    containerStatuses: containers(pod, false, {
      terminated: { exitCode, reason: containerReason, ...times },
    }),
  };
}

const withConditions = ({ status }: Pod, now: Instant, next: readonly Condition[]): Condition[] =>
  next.reduce<Condition[]>(
    (conditions, condition) => setCondition(conditions, { ...condition, lastProbeTime: null }, now),
    status?.conditions ?? [],
  );

const containers = (
  { spec }: Pod,
  ready: boolean,
  state: NonNullable<ContainerStatus['state']>,
): ContainerStatus[] =>
  (spec?.containers ?? []).map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready,
    started: ready,
    restartCount: 0,
    state,
    lastState: {},
  }));
