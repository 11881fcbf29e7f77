import { formatTime, type Instant, instant } from '@lapse/base/instant';
import type { Condition, Node } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { computeNodeStep, HEARTBEAT } from './compute.ts';

const at = (seconds: number): Instant => instant(Date.UTC(2030, 0, 1) + seconds * 1000);
const time = (seconds: number): string => formatTime(at(seconds));
const node = (label: string | undefined, conditions: Condition[] = [], more: object = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'n',
    creationTimestamp: time(0),
    ...(label === undefined ? {} : { labels: { [HEARTBEAT]: label } }),
    ...more,
  },
  status: { conditions },
});
const ready = (status: string, beat: number, since = 0): Condition => ({
  type: 'Ready',
  status,
  lastHeartbeatTime: time(beat),
  lastTransitionTime: time(since),
});
const beats = (seconds: number, since: number) => ({
  ...ready('True', seconds, since),
  reason: 'KubeletReady',
  message: 'kubelet is posting ready status',
});
const silent = (beat: number, since: number) => ({
  ...ready('Unknown', beat, since),
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
});
const nothing = { kind: 'nothing' };
const disk: Condition = { type: 'DiskPressure', status: 'False' };

describe('computeNodeStep', () => {
  test.each<[string, Node, number, object]>([
    ['does nothing for a Node without the label', node(undefined), 0, nothing],
    ['makes a new Node ready at once', node(''), 3, { kind: 'write', status: { conditions: [beats(3, 3)] } }],
    [
      'keeps other conditions',
      node('true', [disk, ready('False', 0)]),
      3,
      { kind: 'write', status: { conditions: [disk, beats(3, 3)] } },
    ],
    ['waits between heartbeats', node('', [ready('True', 10)]), 309.999, { kind: 'wait', until: at(310) }],
    [
      'updates lastHeartbeatTime but not lastTransitionTime',
      node('', [ready('True', 10)]),
      310,
      { kind: 'write', status: { conditions: [beats(310, 0)] } },
    ],
    [
      'waits at most until the heartbeat stops',
      node('stop-after-5m', [ready('True', 10)]),
      20,
      { kind: 'wait', until: at(300) },
    ],
    [
      'waits for the grace period after the heartbeat stopped',
      node('stop-after-5m', [ready('True', 10)]),
      300,
      { kind: 'wait', until: at(350) },
    ],
    [
      'sets Ready to Unknown after the grace period',
      node('stop-after-5m', [ready('True', 10)]),
      350,
      { kind: 'write', status: { conditions: [silent(10, 350)] } },
    ],
    [
      'does nothing for a Node that is already Unknown',
      node('stop-after-5m', [ready('Unknown', 10)]),
      999,
      nothing,
    ],
    [
      'makes an Unknown Node ready again when the stop is removed',
      node('', [ready('Unknown', 10)]),
      999,
      { kind: 'write', status: { conditions: [beats(999, 999)] } },
    ],
    ['does nothing for a terminating Node', node('', [], { deletionTimestamp: time(0) }), 0, nothing],
    [
      'reports an invalid label',
      node('stop-after-lunch'),
      0,
      { kind: 'invalid', problem: `${HEARTBEAT}: "stop-after-lunch" is not "stop-after-5m"` },
    ],
    ['reports a negative duration', node('stop-after--5m'), 0, expect.objectContaining({ kind: 'invalid' })],
  ])('%s', (_, of, seconds, step) => expect(computeNodeStep(of, at(seconds))).toEqual(step));
});
