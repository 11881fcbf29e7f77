// The default admission plugins for Pods: priority, two tolerations, and rejection of unknown runtime classes.

import { forbidden, internal } from '@lapse/kube/api/errors';
import type { JsonObject } from '@lapse/kube/api/json';
import { checkPathSegment } from '@lapse/kube/api/names';
import type { KubeObject } from '@lapse/kube/api/object';
import { child, copyField, ensure, has, number, objects, text } from '../values.ts';

const PODS = { group: '', plural: 'pods' };

/** The priority classes of every cluster. */
const PRIORITIES: Readonly<Record<string, number>> = {
  '': 0,
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

export function admitPod(pod: KubeObject, old: KubeObject | undefined): void {
  const spec = ensure(pod, 'spec');
  const refuse = (why: string) => forbidden(PODS, calledBy(pod), why);
  if (old) {
    const before = old['spec'] as JsonObject;
    for (const field of ['priority', 'preemptionPolicy'])
      if (!has(spec, field)) copyField(spec, before, field);
  } else {
    setPriority(spec, refuse);
    if (has(spec, 'runtimeClassName')) throw noRuntimeClass(text(spec, 'runtimeClassName'), refuse);
  }
  tolerateUnavailableNodes(spec);
}

/** Generated names are not known yet. */
const calledBy = ({ metadata }: KubeObject): string => metadata.name || metadata.generateName || 'Unknown';

/** No runtime classes exist; a name that is not valid for a lookup is another error. */
function noRuntimeClass(name: string, refuse: (why: string) => Error): Error {
  if (name === '') return internal('resource name may not be empty');
  const odd = checkPathSegment(name);
  if (odd.length > 0) return internal(`invalid resource name "${name}": [${odd.join(' ')}]`);
  return refuse(`pod rejected: RuntimeClass "${name}" not found`);
}

/** Runs after validation: only a runtime class may set the overhead of a Pod. */
export function approvePod(pod: KubeObject, old: KubeObject | undefined): void {
  if (old || !has(child(pod, 'spec'), 'overhead')) return;
  const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
  throw forbidden(PODS, pod.metadata.name ?? '', why);
}

const PREEMPTION = 'PreemptLowerPriority';

function setPriority(spec: JsonObject, refuse: (why: string) => Error): void {
  const className = text(spec, 'priorityClassName');
  const priority = Object.hasOwn(PRIORITIES, className) ? PRIORITIES[className]! : undefined;
  if (priority === undefined) throw refuse(`no PriorityClass with name ${className} was found`);
  const given = number(spec, 'priority');
  const computed = 'priority admission controller computed';
  if (given !== undefined && given !== priority)
    throw refuse(
      `the integer value of priority (${given}) must not be provided in pod spec; ${computed} ${priority} from the given PriorityClass name`,
    );
  const policy = text(spec, 'preemptionPolicy');
  if (has(spec, 'preemptionPolicy') && policy !== PREEMPTION)
    throw refuse(
      `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec; ${computed} ${PREEMPTION} from the given PriorityClass name`,
    );
  spec['priority'] = priority;
  spec['preemptionPolicy'] = PREEMPTION;
}

const NODE_TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const PATIENCE_SECONDS = 300;

/** Tolerates a node that is not ready or unreachable for five minutes, except when the Pod has such a toleration. */
function tolerateUnavailableNodes(spec: JsonObject): void {
  const present = objects(spec, 'tolerations');
  const tolerated = (taint: string) =>
    present.some(
      (t) => [taint, ''].includes(text(t, 'key')) && ['NoExecute', ''].includes(text(t, 'effect')),
    );
  const missing = NODE_TAINTS.filter((taint) => !tolerated(taint));
  if (missing.length === 0) return;
  const added = missing.map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: PATIENCE_SECONDS,
  }));
  spec['tolerations'] = [...present, ...added];
}
