// The default admission plugins for Pods: priority, runtime class, and two tolerations.

import { forbidden } from '@lapse/kube/api/errors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { StrategyContext } from '../../resources/resource.ts';
import { setRuntimeClass } from '../node/runtimeClass.ts';
import { defaultPriorityClass, PRIORITY_CLASSES } from '../scheduling/priorityClass.ts';
import { assign, copyField, ensure, has, number, objects, text, value } from '../values.ts';

const PODS = { group: '', plural: 'pods' };

export function admitPod(pod: KubeObject, old: KubeObject | undefined, context: StrategyContext): void {
  const spec = ensure(pod, 'spec');
  const refuse = (why: string) => forbidden(PODS, calledBy(pod), why);
  if (old) {
    const before = old['spec'] as JsonObject;
    for (const field of ['priority', 'preemptionPolicy'])
      if (!has(spec, field)) copyField(spec, before, field);
  } else {
    setPriority(spec, context, refuse);
  }
  tolerateUnavailableNodes(spec);
  if (!old) setRuntimeClass(spec, context, refuse);
}

/** Generated names are not known yet. */
const calledBy = ({ metadata }: KubeObject): string => metadata.name || metadata.generateName || 'Unknown';

function setPriority(spec: JsonObject, context: StrategyContext, refuse: (why: string) => Error): void {
  const name = text(spec, 'priorityClassName');
  const found = name === '' ? defaultPriorityClass(context) : context.get(PRIORITY_CLASSES, name);
  if (name !== '' && !found) throw refuse(`no PriorityClass with name ${name} was found`);
  if (found) spec['priorityClassName'] = found.metadata.name!;
  const priority = number(found, 'value') ?? 0;
  const given = number(spec, 'priority');
  const computed = 'priority admission controller computed';
  if (given !== undefined && given !== priority)
    throw refuse(
      `the integer value of priority (${given}) must not be provided in pod spec; ${computed} ${priority} from the given PriorityClass name`,
    );
  spec['priority'] = priority;
  const policy = found ? value(found, 'preemptionPolicy') : 'PreemptLowerPriority';
  const asked = text(spec, 'preemptionPolicy');
  if (policy !== undefined && has(spec, 'preemptionPolicy') && asked !== policy)
    throw refuse(
      `the string value of PreemptionPolicy (${asked}) must not be provided in pod spec; ${computed} ${policy} from the given PriorityClass name`,
    );
  if (policy !== undefined) assign(spec, 'preemptionPolicy', policy);
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
