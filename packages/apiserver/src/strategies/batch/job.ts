// Strategy of Job: the server generates its selector and Pod labels; most of its spec is immutable; its status only
// moves forward.

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import { clone, equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { namedWarnings } from '../apps/workload.ts';
import { immutable, metaOf, metaUpdate } from '../checks.ts';
import { selects, sortedSelector } from '../labelSelector.ts';
import { labelName, subdomainName } from '../names.ts';
import { defaultPodSpec } from '../pod/defaults.ts';
import { podWarnings } from '../pod/warnings.ts';
import {
  assign,
  child,
  copyField,
  defaultTo,
  ensure,
  flag,
  has,
  number,
  objects,
  part,
  sortedMap,
  stringMap,
  text,
  value,
} from '../values.ts';
import { validateWithSelector } from './jobSpec.ts';
import { isConditionTrue, jobStatusStrategy } from './jobStatus.ts';

const MAX_INT32 = 2_147_483_647;
const NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name'];
const UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid'];
const UID_LABEL = UID_LABELS[1]!;

const templateOf = (job: KubeObject) => part(specOf(job), 'template');
const templateLabels = (job: KubeObject) => stringMap(part(templateOf(job), 'metadata'), 'labels');

function applyDefaults(job: KubeObject): void {
  const spec = ensure(job, 'spec');
  if (!has(spec, 'completions') && !has(spec, 'parallelism')) spec['completions'] = 1;
  defaultTo(spec, 'parallelism', 1);
  defaultTo(spec, 'backoffLimit', has(spec, 'backoffLimitPerIndex') ? MAX_INT32 : 6);
  defaultTo(spec, 'completionMode', 'NonIndexed');
  defaultTo(spec, 'suspend', false);
  defaultTo(spec, 'podReplacementPolicy', has(spec, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed');
  defaultTo(spec, 'manualSelector', false);
  defaultPodSpec(child(child(spec, 'template'), 'spec'));
  // The identical map, as in Kubernetes: labels generated for the template also appear on the Job.
  const labels = child(child(child(spec, 'template'), 'metadata'), 'labels');
  if (labels && Object.keys(job.metadata.labels ?? {}).length === 0)
    job.metadata.labels = labels as Record<string, string>;
}

function prepareForCreate(job: KubeObject): void {
  const spec = ensure(job, 'spec');
  if (flag(spec, 'manualSelector') !== true) generateSelector(job, spec);
  job['status'] = {};
}

/** A Job without labels gets those of its template. */
function copyTemplateLabels(job: KubeObject): void {
  const labels = templateLabels(job);
  if (Object.keys(job.metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0)
    job.metadata.labels = { ...labels };
}

/**
 * Generates labels that are unique to the Pods of this Job, and a selector for them. User values are kept and
 * validated later.
 */
function generateSelector({ metadata }: KubeObject, spec: JsonObject): void {
  const labels = ensure(ensure(ensure(spec, 'template'), 'metadata'), 'labels');
  for (const key of NAME_LABELS) defaultTo(labels, key, metadata.name ?? '');
  for (const key of UID_LABELS) defaultTo(labels, key, metadata.uid!);
  defaultTo(ensure(ensure(spec, 'selector'), 'matchLabels'), UID_LABEL, metadata.uid!);
}

function validateGenerated(job: KubeObject, prefixed: boolean): FieldError[] {
  const selector = child(specOf(job), 'selector');
  if (flag(specOf(job), 'manualSelector') === true || !selector) return [];
  const { name, uid } = job.metadata;
  const wanted: [string, string][] = [
    [UID_LABELS[0]!, uid ?? ''],
    [NAME_LABELS[0]!, name ?? ''],
    ...(prefixed
      ? ([
          [UID_LABEL, uid ?? ''],
          [NAME_LABELS[1]!, name ?? ''],
        ] as [string, string][])
      : []),
  ];
  const errors = wanted.flatMap(([key, v]) => hasLabel(templateLabels(job), key, v));
  if (selects(selector, Object.fromEntries(wanted)) === false)
    errors.push(invalid('spec.selector', sortedSelector(selector), '`selector` not auto-generated'));
  return errors;
}

function hasLabel(labels: Record<string, string>, key: string, wanted: string): FieldError[] {
  const path = `spec.template.metadata.labels[${key}]`;
  if (!Object.hasOwn(labels, key)) return [required(path, `must be '${wanted}'`)];
  return labels[key] === wanted ? [] : [invalid(path, sortedMap(labels), `must be '${wanted}'`)];
}

function validateJob(job: KubeObject, prefixed: boolean): FieldError[] {
  const spec = specOf(job);
  const completions = number(spec, 'completions') ?? 0;
  const errors = [...validateGenerated(job, prefixed), ...validateWithSelector(spec, 'spec')];
  if (text(spec, 'completionMode') !== 'Indexed' || completions <= 0) return errors;
  const hostname = `${job.metadata.name}-${completions - 1}`;
  if (labelName(hostname).length > 0) {
    const why = `will not able to create pod with invalid DNS label: ${hostname}`;
    errors.push(invalid('metadata.name', job.metadata.name, why));
  }
  return errors;
}

const FROZEN = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'];

function validateSpecChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [spec, before] = [specOf(next), specOf(old)];
  return [
    ...validateWithSelector(spec, 'spec'),
    ...validateCompletions(spec, before),
    ...immutable(value(spec, 'selector'), value(before, 'selector'), 'spec.selector'),
    ...validateTemplateChange(next, old),
    ...FROZEN.flatMap((f) => immutable(value(spec, f), value(before, f), `spec.${f}`)),
  ];
}

/** Indexed Jobs can be scaled, together with their parallelism. */
function validateCompletions(spec: JsonObject, before: JsonObject): FieldError[] {
  const path = 'spec.completions';
  const [now, then] = [value(spec, 'completions'), value(before, 'completions')];
  if (text(spec, 'completionMode') !== 'Indexed') return immutable(now, then, path);
  if (equal(now, then) || now === undefined || equal(now, value(spec, 'parallelism'))) return [];
  return [invalid(path, now, 'can only be modified in tandem with spec.parallelism')];
}

/** A suspended Job without Pods may change its scheduling directives and resources. */
function mayChangeTemplate(old: KubeObject): boolean {
  const status = statusOf(old);
  const idle = !has(status, 'startTime') || isConditionTrue(status, 'Suspended');
  return flag(specOf(old), 'suspend') === true && idle && (number(status, 'active') ?? 0) === 0;
}

function validateTemplateChange(next: KubeObject, old: KubeObject): FieldError[] {
  const template = templateOf(next);
  if (!mayChangeTemplate(old)) return immutable(template, templateOf(old), 'spec.template');
  const allowed = clone(templateOf(old));
  const [spec, before] = [part(template, 'spec'), ensure(allowed, 'spec')];
  for (const field of ['nodeSelector', 'tolerations', 'schedulingGates']) copyField(before, spec, field);
  const affinity: JsonObject = { ...child(before, 'affinity') };
  assign(affinity, 'nodeAffinity', child(child(spec, 'affinity'), 'nodeAffinity'));
  const empty = Object.keys(affinity).length === 0 && Object.keys(part(spec, 'affinity')).length === 0;
  assign(before, 'affinity', empty ? value(spec, 'affinity') : affinity);
  for (const field of ['containers', 'initContainers']) allowResources(before, spec, field);
  return immutable(spec, before, 'spec.template.spec');
}

function allowResources(before: JsonObject, spec: JsonObject, field: string): void {
  const [then, now] = [objects(before, field), objects(spec, field)];
  if (then.length !== now.length) return;
  then.forEach((container, i) => {
    if (text(container, 'name') === text(now[i], 'name')) copyField(container, now[i], 'resources');
  });
}

function validateUpdate(next: KubeObject, old: KubeObject): FieldError[] {
  const before = templateLabels(old);
  const prefixed = Object.hasOwn(before, NAME_LABELS[1]!) && Object.hasOwn(before, UID_LABEL);
  return [
    ...metaOf(next, true, subdomainName),
    ...validateJob(next, prefixed),
    ...metaUpdate(next, old),
    ...validateSpecChange(next, old),
  ];
}

const MANY_INDEXES =
  'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';

/** Warnings about the spec of a Job, also inside a CronJob. */
export function jobSpecWarnings(spec: JsonObject, path: string): string[] {
  const many =
    text(spec, 'completionMode') === 'Indexed' &&
    (number(spec, 'completions') ?? 0) > 100_000 &&
    (number(spec, 'parallelism') ?? 0) > 10_000;
  const template = part(spec, 'template');
  return [
    ...(many ? [`${path}: ${MANY_INDEXES}`] : []),
    ...podWarnings(part(template, 'spec'), `${path}.template.`),
  ];
}

const ORPHANING =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

export const jobStrategy: Strategy = {
  nameRule: subdomainName,
  generation: true,
  defaultPropagation: 'Orphan',
  applyDefaults,
  prepareForCreate,
  canonicalize: copyTemplateLabels,
  validate: (job) => validateJob(job, true),
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validatesMeta: true,
  validateUpdate,
  warnings(next, old) {
    if (old && next.metadata.generation === old.metadata.generation) return [];
    return [...(old ? [] : namedWarnings(next)), ...jobSpecWarnings(specOf(next), 'spec')];
  },
  deleteWarnings: ({ propagationPolicy, orphanDependents }) =>
    propagationPolicy === undefined && orphanDependents === undefined ? [ORPHANING] : [],
  subresources: { status: { ...jobStatusStrategy, canonicalize: copyTemplateLabels } },
};
