// Tables of Jobs, CronJobs and the workloads of apps and policy.

import { type Instant, parseTime } from '@lapse/base/instant';
import type { Json } from '@lapse/kube/api/json';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { formatAge } from './age.ts';
import {
  ageOf,
  at,
  containerCells,
  get,
  int,
  intOrText,
  isDeleted,
  isTrue,
  list,
  NONE,
  nameOf,
  since,
  text,
  textOr,
  UNSET,
} from './cells.ts';
import type { Cells } from './printer.ts';
import { bareSelectorText, labelsText, selectorText } from './selectorText.ts';

const templateContainers = (object: KubeObject): [string, string] =>
  containerCells(get(object, 'spec', 'template', 'spec'));
const status = (object: KubeObject, field: string): Json => int(get(object, 'status', field));

const jobCells: Cells = (job, now) => [
  nameOf(job),
  jobStatus(job),
  jobCompletions(job),
  jobDuration(job, now),
  ageOf(job, now),
  ...templateContainers(job),
  selectorText(get(job, 'spec', 'selector')),
];

function jobStatus(job: KubeObject): string {
  if (isTrue(job, 'Complete')) return 'Complete';
  if (isTrue(job, 'Failed')) return 'Failed';
  if (isDeleted(job)) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => isTrue(job, type)) ?? 'Running';
}

function jobCompletions(job: KubeObject): string {
  const succeeded = status(job, 'succeeded');
  const wanted = get(job, 'spec', 'completions');
  if (wanted !== undefined && wanted !== null) return `${succeeded}/${int(wanted)}`;
  const parallelism = int(get(job, 'spec', 'parallelism'));
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: KubeObject, now: Instant): string {
  const started = parseTime(text(get(job, 'status', 'startTime')));
  if (Number.isNaN(started)) return '';
  const completed = parseTime(text(get(job, 'status', 'completionTime')));
  return formatAge(started, Number.isNaN(completed) ? now : completed);
}

const cronJobCells: Cells = (cronJob, now) => {
  const last = get(cronJob, 'status', 'lastScheduleTime');
  const suspend = get(cronJob, 'spec', 'suspend');
  const jobSpec = get(cronJob, 'spec', 'jobTemplate', 'spec');
  return [
    nameOf(cronJob),
    text(get(cronJob, 'spec', 'schedule')),
    textOr(get(cronJob, 'spec', 'timeZone'), NONE),
    typeof suspend === 'boolean' ? (suspend ? 'True' : 'False') : UNSET,
    list(get(cronJob, 'status', 'active')).length,
    last === undefined ? NONE : since(last, now),
    ageOf(cronJob, now),
    ...containerCells(at(jobSpec, 'template', 'spec')),
    selectorText(at(jobSpec, 'selector')),
  ];
};

const deploymentCells: Cells = (deployment, now) => [
  nameOf(deployment),
  readyOfDesired(deployment),
  status(deployment, 'updatedReplicas'),
  status(deployment, 'availableReplicas'),
  ageOf(deployment, now),
  ...templateContainers(deployment),
  bareSelectorText(get(deployment, 'spec', 'selector')),
];

const readyOfDesired = (object: KubeObject): string =>
  `${status(object, 'readyReplicas')}/${int(get(object, 'spec', 'replicas'))}`;

const replicaSetCells: Cells = (replicaSet, now) => [
  nameOf(replicaSet),
  int(get(replicaSet, 'spec', 'replicas')),
  status(replicaSet, 'replicas'),
  status(replicaSet, 'readyReplicas'),
  ageOf(replicaSet, now),
  ...templateContainers(replicaSet),
  selectorText(get(replicaSet, 'spec', 'selector')),
];

const replicationControllerCells: Cells = (controller, now) => [
  nameOf(controller),
  int(get(controller, 'spec', 'replicas')),
  status(controller, 'replicas'),
  status(controller, 'readyReplicas'),
  ageOf(controller, now),
  ...templateContainers(controller),
  labelsText(get(controller, 'spec', 'selector')),
];

const podTemplateCells: Cells = (object) => [
  nameOf(object),
  ...containerCells(get(object, 'template', 'spec')),
  labelsText(get(object, 'template', 'metadata', 'labels')),
];

const statefulSetCells: Cells = (statefulSet, now) => [
  nameOf(statefulSet),
  readyOfDesired(statefulSet),
  ageOf(statefulSet, now),
  ...templateContainers(statefulSet),
];

const daemonSetCells: Cells = (daemonSet, now) => [
  nameOf(daemonSet),
  status(daemonSet, 'desiredNumberScheduled'),
  status(daemonSet, 'currentNumberScheduled'),
  status(daemonSet, 'numberReady'),
  status(daemonSet, 'updatedNumberScheduled'),
  status(daemonSet, 'numberAvailable'),
  labelsText(get(daemonSet, 'spec', 'template', 'spec', 'nodeSelector')),
  ageOf(daemonSet, now),
  ...templateContainers(daemonSet),
  selectorText(get(daemonSet, 'spec', 'selector')),
];

const controllerRevisionCells: Cells = (revision, now) => [
  nameOf(revision),
  controllerOf(revision),
  int(get(revision, 'revision')),
  ageOf(revision, now),
];

/** `statefulset.apps/web`. */
function controllerOf({ metadata }: KubeObject): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (!owner) return NONE;
  const group = parseApiVersion(owner.apiVersion)?.group ?? '';
  const kind = (group === '' ? owner.kind : `${owner.kind}.${group}`).toLowerCase();
  return `${kind}/${owner.name}`;
}

const disruptionBudgetCells: Cells = (budget, now) => [
  nameOf(budget),
  intOrText(get(budget, 'spec', 'minAvailable'), 'N/A'),
  intOrText(get(budget, 'spec', 'maxUnavailable'), 'N/A'),
  status(budget, 'disruptionsAllowed'),
  ageOf(budget, now),
];

export const WORKLOADS: Readonly<Record<string, Cells>> = {
  'jobs.batch': jobCells,
  'cronjobs.batch': cronJobCells,
  'deployments.apps': deploymentCells,
  'replicasets.apps': replicaSetCells,
  replicationcontrollers: replicationControllerCells,
  podtemplates: podTemplateCells,
  'statefulsets.apps': statefulSetCells,
  'daemonsets.apps': daemonSetCells,
  'controllerrevisions.apps': controllerRevisionCells,
  'poddisruptionbudgets.policy': disruptionBudgetCells,
};
