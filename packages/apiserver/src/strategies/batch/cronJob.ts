// Strategy of CronJob: a schedule, a time zone and the template of a Job.

import { type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf } from '../../resources/resource.ts';
import { namedWarnings } from '../apps/workload.ts';
import { metaUpdate, nonNegative } from '../checks.ts';
import { sortedSelector } from '../labelSelector.ts';
import { subdomainName } from '../names.ts';
import { defaultPodSpec } from '../pod/defaults.ts';
import { child, copyField, ensure, flag, has, number, part, text, value } from '../values.ts';
import { jobSpecWarnings } from './job.ts';
import { validateJobSpec } from './jobSpec.ts';
import { checkSchedule, ScheduleError } from './schedule.ts';

// Jobs of a CronJob have a suffix of eleven characters.
const MAX_NAME = 52;

const templateOf = (cronJob: KubeObject): JsonObject => part(part(specOf(cronJob), 'jobTemplate'), 'spec');

function validateSpec(spec: JsonObject, before: JsonObject | undefined): FieldError[] {
  const template = part(part(spec, 'jobTemplate'), 'spec');
  const zoneChanged = !before || value(before, 'timeZone') !== value(spec, 'timeZone');
  return [
    ...scheduleErrors(spec, before),
    ...nonNegative(number(spec, 'startingDeadlineSeconds'), 'spec.startingDeadlineSeconds'),
    ...(zoneChanged ? zoneErrors(spec, 'spec.timeZone') : []),
    ...policyErrors(text(spec, 'concurrencyPolicy')),
    ...validateJobSpec(template, 'spec.jobTemplate.spec'),
    ...selectorErrors(template),
    ...nonNegative(number(spec, 'successfulJobsHistoryLimit'), 'spec.successfulJobsHistoryLimit'),
    ...nonNegative(number(spec, 'failedJobsHistoryLimit'), 'spec.failedJobsHistoryLimit'),
  ];
}

function scheduleErrors(spec: JsonObject, before: JsonObject | undefined): FieldError[] {
  const path = 'spec.schedule';
  const schedule = text(spec, 'schedule');
  if (schedule === '') return [required(path)];
  const errors: FieldError[] = [];
  try {
    checkSchedule(schedule, isZone);
  } catch (cause) {
    if (!(cause instanceof ScheduleError)) throw cause;
    errors.push(invalid(path, schedule, cause.message));
  }
  if (!schedule.includes('TZ')) return errors;
  const tolerated = text(before, 'schedule').includes('TZ');
  if (!tolerated)
    errors.push(invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  else if (has(spec, 'timeZone'))
    errors.push(invalid(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  return errors;
}

/** Whether the tz database contains exactly this name. */
function isZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}

const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

function zoneErrors(spec: JsonObject, path: string): FieldError[] {
  if (!has(spec, 'timeZone')) return [];
  const zone = text(spec, 'timeZone');
  if (zone === '') return [invalid(path, zone, 'timeZone must be nil or non-empty string')];
  const odd = (part: string) =>
    part === '.' || part === '..' || part.startsWith('-') || !ZONE_PART.test(part);
  if (zone.split('/').some(odd)) return [invalid(path, zone, `unknown time zone ${zone}`)];
  const local = zone.toLowerCase() === 'local';
  const explicit = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  return [
    ...(local ? [invalid(path, zone, explicit)] : []),
    ...(zone === 'Local' || isZone(zone) ? [] : [invalid(path, zone, `unknown time zone ${zone}`)]),
  ];
}

const POLICIES = ['Allow', 'Forbid', 'Replace'];

function policyErrors(policy: string): FieldError[] {
  const path = 'spec.concurrencyPolicy';
  if (policy === '') return [required(path)];
  return POLICIES.includes(policy) ? [] : [notSupported(path, policy, POLICIES)];
}

function selectorErrors(template: JsonObject): FieldError[] {
  const path = 'spec.jobTemplate.spec';
  const selector = child(template, 'selector');
  return [
    ...(selector
      ? [invalid(`${path}.selector`, sortedSelector(selector), '`selector` will be auto-generated')]
      : []),
    ...(flag(template, 'manualSelector') === true
      ? [notSupported(`${path}.manualSelector`, true, ['nil', 'false'])]
      : []),
  ];
}

function nameErrors({ metadata }: KubeObject): FieldError[] {
  const name = metadata.name ?? '';
  return name.length > MAX_NAME ? [invalid('metadata.name', name, 'must be no more than 52 characters')] : [];
}

function warnings(next: KubeObject, old: KubeObject | undefined): string[] {
  const path = 'spec.jobTemplate.spec';
  if (!old) return [...namedWarnings(next), ...jobSpecWarnings(templateOf(next), path)];
  const changed = next.metadata.generation !== old.metadata.generation;
  const zoned = text(specOf(next), 'schedule').includes('TZ');
  return [
    ...(changed ? jobSpecWarnings(templateOf(next), path) : []),
    ...(zoned
      ? [
          'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
        ]
      : []),
  ];
}

export const cronJobStrategy: Strategy = {
  nameRule: subdomainName,
  generation: true,
  applyDefaults: (cronJob) => defaultPodSpec(child(child(templateOf(cronJob), 'template'), 'spec')),
  prepareForCreate: (cronJob) => {
    ensure(cronJob, 'spec');
    cronJob['status'] = {};
  },
  validate: (cronJob) => [...validateSpec(specOf(cronJob), undefined), ...nameErrors(cronJob)],
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validatesMeta: true,
  validateUpdate: (next, old) => [...metaUpdate(next, old), ...validateSpec(specOf(next), specOf(old))],
  warnings,
  subresources: {
    status: { prepareForUpdate: (next, old) => copyField(next, old, 'spec'), validatesMeta: true },
  },
};
