// Objects that stand for work: created again after they have finished, they would run it again.

import { clone, isObject, type JsonObject } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject } from '@lapse/kube/api/object';
import { typeOf } from '#checkpoint/restore/strip';
import { computeStatusFinish } from '#expiry/statusFinish';
import type { TrashRecord } from '../record.ts';

const isFinishedPod = ({ status }: KubeObject): boolean =>
  isObject(status as never) && ['Succeeded', 'Failed'].includes(String((status as JsonObject).phase));

/** The rule judged that the object had finished, or its status says so. */
export const isFinished = ({ object, finished }: TrashRecord): boolean =>
  finished === true ||
  computeStatusFinish(object).kind === 'finished' ||
  (typeOf(object) === '/Pod' && isFinishedPod(object));

/** The field that keeps an object of the kind from running, and its value. */
const SUSPENDED: Readonly<Record<string, readonly [field: string, value: boolean | string]>> = {
  'batch/Job': ['suspend', true],
  'argoproj.io/Workflow': ['suspend', true],
  'jobset.x-k8s.io/JobSet': ['suspend', true],
  'ray.io/RayJob': ['suspend', true],
  'sparkoperator.k8s.io/SparkApplication': ['suspend', true],
  'tekton.dev/PipelineRun': ['status', 'PipelineRunPending'],
};

/** A copy that does not run. Undefined: the kind has no such field. */
export function suspend(object: KubeObject): KubeObject | undefined {
  const type = typeOf(object);
  if (!Object.hasOwn(SUSPENDED, type)) return undefined;
  const [field, value] = SUSPENDED[type]!;
  const copy = clone(asJson(object));
  const { spec } = copy;
  copy.spec = { ...(isObject(spec) ? spec : {}), [field]: value };
  return asObject(copy);
}
