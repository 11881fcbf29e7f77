// Tables of Pods: readiness, status, restarts. The status is the reason of the most relevant container.

import { type Instant, instant, parseTime } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { formatAge } from './age.ts';
import {
  ageOf,
  at,
  condition,
  flag,
  get,
  int,
  isDeleted,
  isTrue,
  NONE,
  nameOf,
  nonEmpty,
  objects,
  text,
} from './cells.ts';
import type { Cells } from './printer.ts';

export const podCells: Cells = (pod, now) => {
  const summary = summarise(pod);
  return [
    nameOf(pod),
    `${summary.ready}/${summary.containers}`,
    summary.reason,
    restartsText(summary.restarts, now),
    ageOf(pod, now),
    podIp(pod),
    nonEmpty(get(pod, 'spec', 'nodeName'), NONE),
    nonEmpty(get(pod, 'status', 'nominatedNodeName'), NONE),
    readinessGates(pod),
  ];
};

const COMPLETED = { type: 'Completed', status: 'True' };

/** Finished Pods have a condition, so that clients can hide them. */
export function podConditions(pod: KubeObject): JsonObject[] | undefined {
  switch (get(pod, 'status', 'phase')) {
    case 'Succeeded':
      return [{ ...COMPLETED, reason: 'Succeeded', message: 'The pod has completed successfully.' }];
    case 'Failed':
      return [{ ...COMPLETED, reason: 'Failed', message: 'The pod failed.' }];
    default:
      return undefined;
  }
}

interface Restarts {
  readonly count: number;
  /** When a container last terminated before a restart; -Infinity when unknown. */
  readonly last: number;
}

interface Summary {
  readonly ready: number;
  readonly containers: number;
  readonly reason: string;
  readonly restarts: Restarts;
}

const NO_RESTARTS: Restarts = { count: 0, last: -Infinity };

function withRestarts(total: Restarts, container: JsonObject): Restarts {
  const ended = parseTime(text(at(container, 'lastState', 'terminated', 'finishedAt')));
  return {
    count: total.count + Number(int(container['restartCount'])),
    last: Number.isNaN(ended) ? total.last : Math.max(total.last, ended),
  };
}

function restartsText({ count, last }: Restarts, now: Instant): string {
  return count !== 0 && last > -Infinity ? `${count} (${formatAge(instant(last), now)} ago)` : String(count);
}

function summarise(pod: KubeObject): Summary {
  const init = summariseInit(pod);
  const main = init.reason === undefined || isTrue(pod, 'Initialized') ? summariseMain(pod, init) : init;
  return {
    ready: main.ready,
    containers: objects(get(pod, 'spec', 'containers')).length + sidecarNames(pod).size,
    reason: finalReason(pod, main.reason ?? init.reason ?? phaseReason(pod)),
    restarts: main.restarts,
  };
}

/** The status without the containers. */
function phaseReason(pod: KubeObject): string {
  const gated = objects(get(pod, 'status', 'conditions')).some(
    (c) => c['type'] === 'PodScheduled' && c['reason'] === 'SchedulingGated',
  );
  if (gated) return 'SchedulingGated';
  return text(get(pod, 'status', 'reason')) || text(get(pod, 'status', 'phase'));
}

function finalReason(pod: KubeObject, reason: string): string {
  if (!isDeleted(pod)) return reason;
  if (get(pod, 'status', 'reason') === 'NodeLost') return 'Unknown';
  const phase = get(pod, 'status', 'phase');
  return phase === 'Succeeded' || phase === 'Failed' ? reason : 'Terminating';
}

/** Init containers with restartPolicy Always. */
const sidecarNames = (pod: KubeObject): Set<string> =>
  new Set(
    objects(get(pod, 'spec', 'initContainers'))
      .filter((c) => c['restartPolicy'] === 'Always')
      .map((c) => text(c['name'])),
  );

interface InitSummary {
  readonly ready: number;
  /** Set while the Pod is initializing, or failed to. */
  readonly reason: string | undefined;
  readonly restarts: Restarts;
  readonly sidecarRestarts: Restarts;
}

function summariseInit(pod: KubeObject): InitSummary {
  const sidecars = sidecarNames(pod);
  const total = objects(get(pod, 'spec', 'initContainers')).length;
  let ready = 0;
  let restarts = NO_RESTARTS;
  let sidecarRestarts = NO_RESTARTS;
  for (const [index, container] of objects(get(pod, 'status', 'initContainerStatuses')).entries()) {
    const sidecar = sidecars.has(text(container['name']));
    restarts = withRestarts(restarts, container);
    if (sidecar) sidecarRestarts = withRestarts(sidecarRestarts, container);
    const reason = initReason(container, sidecar);
    if (reason !== undefined) {
      return { ready, reason: `Init:${reason || `${index}/${total}`}`, restarts, sidecarRestarts };
    }
    if (sidecar && !exitedWell(container) && flag(container['ready'])) ready++;
  }
  return { ready, reason: undefined, restarts, sidecarRestarts };
}

const exitedWell = (container: JsonObject): boolean => {
  const terminated = at(container, 'state', 'terminated');
  return terminated !== undefined && int(at(terminated, 'exitCode')) === 0;
};

/** Undefined when this init container completed or runs as a sidecar; empty when it is only unfinished. */
function initReason(container: JsonObject, sidecar: boolean): string | undefined {
  if (exitedWell(container)) return undefined;
  if (sidecar && flag(container['started'])) return undefined;
  if (at(container, 'state', 'terminated') !== undefined) return terminatedReason(container);
  const waiting = text(at(container, 'state', 'waiting', 'reason'));
  return waiting === 'PodInitializing' ? '' : waiting;
}

function terminatedReason(container: JsonObject): string {
  const terminated = at(container, 'state', 'terminated');
  const reason = text(at(terminated, 'reason'));
  if (reason !== '') return reason;
  const signal = int(at(terminated, 'signal'));
  return Number(signal) !== 0 ? `Signal:${signal}` : `ExitCode:${int(at(terminated, 'exitCode'))}`;
}

function summariseMain(pod: KubeObject, init: InitSummary): Omit<InitSummary, 'sidecarRestarts'> {
  let { ready } = init;
  let restarts = init.sidecarRestarts;
  let reason: string | undefined;
  let errorReason = '';
  let running = false;
  for (const container of objects(get(pod, 'status', 'containerStatuses')).reverse()) {
    restarts = withRestarts(restarts, container);
    const word = containerReason(container);
    if (word !== undefined) reason = word;
    if (word !== undefined && Number(int(at(container, 'state', 'terminated', 'exitCode'))) !== 0)
      errorReason = word;
    if (word === undefined && flag(container['ready']) && at(container, 'state', 'running') !== undefined) {
      running = true;
      ready++;
    }
  }
  if ((reason ?? init.reason ?? phaseReason(pod)) === 'Completed') {
    reason = reasonOfCompleted(pod, running, errorReason);
  }
  return { ready, reason, restarts };
}

/** Why this container waits or terminated. */
function containerReason(container: JsonObject): string | undefined {
  const waiting = text(at(container, 'state', 'waiting', 'reason'));
  if (waiting !== '') return waiting;
  return at(container, 'state', 'terminated') === undefined ? undefined : terminatedReason(container);
}

/** A Pod with a completed container may still be running. */
function reasonOfCompleted(pod: KubeObject, running: boolean, errorReason: string): string {
  const ready = objects(get(pod, 'status', 'conditions')).some(
    (c) => c['type'] === 'Ready' && c['status'] === 'True',
  );
  if (running && ready) return 'Running';
  if (errorReason !== '') return errorReason;
  return running ? 'NotReady' : 'Completed';
}

function podIp(pod: KubeObject): string {
  const [first] = objects(get(pod, 'status', 'podIPs'));
  return nonEmpty(first ? first['ip'] : get(pod, 'status', 'podIP'), NONE);
}

function readinessGates(pod: KubeObject): string {
  const gates = objects(get(pod, 'spec', 'readinessGates'));
  if (gates.length === 0) return NONE;
  const passed = gates.filter((g) => condition(pod, text(g['conditionType']))?.['status'] === 'True');
  return `${passed.length}/${gates.length}`;
}
