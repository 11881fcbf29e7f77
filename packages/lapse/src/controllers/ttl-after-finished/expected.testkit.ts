// For tests: a fixed start time, short forms of decisions, and Pods as the cache contains them.

import { formatTime, type Instant, instant, seconds } from '@lapse/base/instant';
import type { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import { POD_TTL_ANNOTATION } from '#expiry/pod';

const START = Date.parse('2026-01-01T12:00:00Z');
export const at = (second: number): Instant => instant(START + second * 1000);
export const time = (second: number): string => formatTime(at(second));
export const moment = (second: number, firstSeen?: number) => ({
  now: at(second),
  tolerance: seconds(30),
  ...(firstSeen === undefined ? {} : { sight: { at: at(firstSeen), isTransition: true } }),
});
export const not = (because: string) => ({ kind: 'notApplicable', because });
export const waiting = (second: number) => ({ kind: 'waiting', until: at(second) });
export const expired = (second: number) => ({ kind: 'expired', since: at(second) });
export const status = (...conditions: [type: string, status: string, second?: number][]): Job['status'] => ({
  conditions: conditions.map(([type, status, second]) => ({
    type,
    status,
    ...(second === undefined ? {} : { lastTransitionTime: time(second) }),
  })),
});

export const pod = (ttl: string | undefined, status: Pod['status'], more: Partial<Pod> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'default',
    uid: 'u-2',
    resourceVersion: '9',
    ...(ttl === undefined ? {} : { annotations: { [POD_TTL_ANNOTATION]: ttl } }),
    ...more.metadata,
  },
  spec: { restartPolicy: 'Never', ...more.spec },
  ...(status === undefined ? {} : { status }),
});
export const ended = (...seconds: (number | undefined)[]) =>
  seconds.map((second, i) => ({
    name: `c${i}`,
    state: second === undefined ? {} : { terminated: { finishedAt: time(second), exitCode: 0 } },
  }));
export const owner = (kind: string, apiVersion: string, controller = true) => ({
  metadata: { ownerReferences: [{ apiVersion, kind, name: 'o', uid: 'x', controller }] },
});
