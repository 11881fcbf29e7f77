// Computes the heartbeat of a labelled Node. `simulation.lapse.dev/heartbeat: ""` sends heartbeats without end.
// `stop-after-5m` stops them 5 minutes after the creation of the Node; then the Node becomes Unknown, as the node
// controller would set it. Label values cannot contain spaces. Pure.

import { readGoDuration } from '@lapse/base/goDuration';
import {
  formatTime,
  type Instant,
  isDue,
  millis,
  minutes,
  parseTime,
  plus,
  seconds,
} from '@lapse/base/instant';
import { findCondition, setCondition } from '@lapse/kube/api/conditions';
import type { Condition, Node } from '@lapse/kube/api/kinds/builtin';
import type { StatusStep } from '../statusStep.ts';

export const HEARTBEAT = 'simulation.lapse.dev/heartbeat';

/** How often a kubelet writes an unchanged status. */
const PERIOD = minutes(5);
/** How long the node controller waits before it sets the Node to Unknown. */
const GRACE = seconds(50);
const STOP = /^stop-after-(.+)$/;

/** All conditions of the Node. */
export type NodeStep = StatusStep<{ readonly conditions: readonly Condition[] }>;

const NOTHING: NodeStep = { kind: 'nothing' };

export function computeNodeStep(node: Node, now: Instant): NodeStep {
  const label = node.metadata.labels?.[HEARTBEAT];
  if (label === undefined || node.metadata.deletionTimestamp !== undefined) return NOTHING;
  const stop = parseStop(label, node.metadata.creationTimestamp);
  if (typeof stop === 'object') return { kind: 'invalid', problem: stop.problem };
  if (stop !== undefined && isDue(stop, now)) return computeSilence(node, stop, now);
  const ready = readyOf(node);
  const last = ready?.lastHeartbeatTime;
  if (ready?.status !== 'True' || last === undefined) return beat(node, now);
  const next = plus(parseTime(last), PERIOD);
  if (isDue(next, now) || Number.isNaN(next)) return beat(node, now);
  return { kind: 'wait', until: stop !== undefined && isDue(stop, next) ? stop : next };
}

/** When the heartbeat stops; undefined if it does not stop. */
function parseStop(
  label: string,
  created: string | null | undefined,
): Instant | undefined | { readonly problem: string } {
  const [, length] = STOP.exec(label) ?? [];
  if (length === undefined) return undefined;
  const nanos = readGoDuration(length);
  if (nanos === undefined || nanos < 0n)
    return { problem: `${HEARTBEAT}: ${JSON.stringify(label)} is not "stop-after-5m"` };
  return plus(parseTime(created ?? ''), millis(Number(nanos / 1_000_000n)));
}

function computeSilence(node: Node, stop: Instant, now: Instant): NodeStep {
  if (readyOf(node)?.status === 'Unknown') return NOTHING;
  const noticed = plus(stop, GRACE);
  if (!isDue(noticed, now)) return { kind: 'wait', until: noticed };
  const silent = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
  const { lastHeartbeatTime = formatTime(stop) } = readyOf(node) ?? {};
  return withReady(node, now, { status: 'Unknown', lastHeartbeatTime, ...silent });
}

const beat = (node: Node, now: Instant): NodeStep =>
  withReady(node, now, {
    status: 'True',
    lastHeartbeatTime: formatTime(now),
    reason: 'KubeletReady',
    message: 'kubelet is posting ready status',
  });

const readyOf = ({ status }: Node): Condition | undefined => findCondition(status?.conditions, 'Ready');

const withReady = (node: Node, now: Instant, next: Omit<Condition, 'type'>): NodeStep => ({
  kind: 'write',
  status: { conditions: setCondition<Condition>(node.status?.conditions, { type: 'Ready', ...next }, now) },
});
