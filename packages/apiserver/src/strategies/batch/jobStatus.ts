// Validation of the status of a Job: fields that exclude each other, and fields that cannot be reverted. A rule
// applies only to fields that this write changed, so that an invalid Job can be repaired.

import { parseTime } from '@lapse/base/instant';
import { duplicate, type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { specOf, statusOf, type UpdateStrategy } from '../../resources/resource.ts';
import { invalidWithout, metaUpdate, nonNegative } from '../checks.ts';
import { child, copyField, flag, has, list, number, objects, part, text, texts, value } from '../values.ts';
import { countIndexes, firstOverlap, IndexError } from './indexes.ts';

export const isConditionTrue = (status: JsonObject, type: string): boolean =>
  hasCondition(status, type, 'True');

const hasCondition = (status: JsonObject, type: string, wanted: string): boolean =>
  objects(status, 'conditions').some((c) => text(c, 'type') === type && text(c, 'status') === wanted);

/** The state of a Job, derived from its conditions. */
interface Facts {
  readonly complete: boolean;
  readonly failed: boolean;
  readonly finished: boolean;
  readonly failureTarget: boolean;
  readonly criteriaMet: boolean;
}

function factsOf(status: JsonObject): Facts {
  const [complete, failed] = [isConditionTrue(status, 'Complete'), isConditionTrue(status, 'Failed')];
  return {
    complete,
    failed,
    finished: complete || failed,
    failureTarget: isConditionTrue(status, 'FailureTarget'),
    criteriaMet: isConditionTrue(status, 'SuccessCriteriaMet'),
  };
}

/** Both states and the differences between them. */
interface Change {
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly before: JsonObject;
  readonly now: Facts;
  readonly previously: Facts;
  changed(...fields: string[]): boolean;
}

function changeOf(next: KubeObject, old: KubeObject): Change {
  const [status, before] = [statusOf(next), statusOf(old)];
  return {
    spec: specOf(next),
    status,
    before,
    now: factsOf(status),
    previously: factsOf(before),
    changed: (...fields) => fields.some((f) => !equal(value(status, f), value(before, f))),
  };
}

export const jobStatusStrategy: UpdateStrategy = {
  prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
  validatesMeta: true,
  validateUpdate(next, old) {
    const change = changeOf(next, old);
    return [
      ...metaUpdate(next, old),
      ...countErrors(change),
      ...conditionErrors(change),
      ...finishedErrors(change),
      ...indexErrors(change),
      ...criteriaErrors(change),
      ...transitionErrors(change),
    ];
  },
};

const COUNTS = ['active', 'succeeded', 'failed', 'ready', 'terminating'];

function countErrors({ status }: Change): FieldError[] {
  const errors = COUNTS.flatMap((name) => nonNegative(number(status, name), `status.${name}`));
  const pods = part(status, 'uncountedTerminatedPods');
  const seen = new Set<string>();
  for (const field of ['succeeded', 'failed'])
    texts(pods, field).forEach((uid, i) => {
      const path = `status.uncountedTerminatedPods.${field}[${i}]`;
      if (uid === '') errors.push(invalid(path, uid, 'must not be empty'));
      else if (seen.has(uid)) errors.push(duplicate(path, uid));
      seen.add(uid);
    });
  return errors;
}

const together = (what: string) => invalidWithout('status.conditions', `cannot set ${what}`);

function conditionErrors(change: Change): FieldError[] {
  const { now, previously: then, changed } = change;
  const errors: FieldError[] = [];
  const turned = (...facts: (keyof Facts)[]) => facts.some((f) => now[f] !== then[f]);
  if (turned('complete', 'failed') && now.complete && now.failed)
    errors.push(together('Complete=True and Failed=true conditions'));
  if (turned('complete', 'failureTarget') && now.complete && now.failureTarget)
    errors.push(together('Complete=True and FailureTarget=true conditions'));
  errors.push(...completionTimeErrors(change));
  if ((turned('failed') || changed('failedIndexes')) && now.failed && !now.failureTarget)
    errors.push(together('Failed=True condition without the FailureTarget=true condition'));
  if (turned('complete', 'criteriaMet') && now.complete && !now.criteriaMet)
    errors.push(together('Complete=True condition without the SuccessCriteriaMet=true condition'));
  return errors;
}

function completionTimeErrors({ status, now, previously: then, changed }: Change): FieldError[] {
  const errors: FieldError[] = [];
  const completion = value(status, 'completionTime');
  const path = 'status.completionTime';
  if (now.complete !== then.complete || changed('completionTime')) {
    const why = 'cannot set completionTime when there is no Complete=True condition';
    if (completion !== undefined && !now.complete) errors.push(invalid(path, completion, why));
    if (completion === undefined && now.complete)
      errors.push(required(path, 'completionTime is required for Complete jobs'));
  }
  if (changed('startTime', 'completionTime') && isBefore(completion, value(status, 'startTime')))
    errors.push(invalid(path, completion, 'must be equal to or after `startTime`'));
  return errors;
}

const isBefore = (a: unknown, b: unknown): boolean =>
  typeof a === 'string' && typeof b === 'string' && parseTime(a) < parseTime(b);

function finishedErrors({ spec, status, now, previously: then, changed }: Change): FieldError[] {
  const turned = now.finished !== then.finished;
  const active = number(status, 'active') ?? 0;
  const nothingToDo = flag(spec, 'suspend') === true && number(spec, 'completions') === 0;
  const pods = child(status, 'uncountedTerminatedPods');
  if (!now.finished) return [];
  const errors: FieldError[] = [];
  if ((turned || changed('active')) && active > 0)
    errors.push(invalid('status.active', active, 'active>0 is invalid for finished job'));
  if ((turned || changed('startTime')) && !nothingToDo && !has(status, 'startTime'))
    errors.push(required('status.startTime', 'startTime is required for finished job'));
  const uncounted = list(pods, 'failed').length + list(pods, 'succeeded').length;
  if ((turned || changed('uncountedTerminatedPods')) && uncounted > 0)
    errors.push(invalid('status.uncountedTerminatedPods', pods, 'must be empty for finished job'));
  return errors;
}

function indexErrors({ spec, status, now, previously: then, changed }: Change): FieldError[] {
  const errors: FieldError[] = [];
  const completions = number(spec, 'completions');
  const completed = text(status, 'completedIndexes');
  const failed = has(status, 'failedIndexes') ? text(status, 'failedIndexes') : undefined;
  const perIndex = has(spec, 'backoffLimitPerIndex');
  const parse = (name: string, indexes: string) => {
    try {
      countIndexes(indexes, completions!);
    } catch (cause) {
      if (!(cause instanceof IndexError)) throw cause;
      errors.push(invalid(`status.${name}`, indexes, `error parsing ${name}: ${cause.message}`));
    }
  };
  if (changed('completedIndexes') && completions !== undefined) parse('completedIndexes', completed);
  if (changed('failedIndexes') && completions !== undefined && perIndex && failed !== undefined)
    parse('failedIndexes', failed);
  if (changed('completedIndexes') && completed !== '' && text(spec, 'completionMode') !== 'Indexed') {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.push(invalid('status.completedIndexes', completed, why));
  }
  if (changed('failedIndexes') && !perIndex && failed !== undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.push(invalid('status.failedIndexes', failed, why));
  }
  if (changed('failedIndexes', 'completedIndexes') && completions !== undefined && failed !== undefined) {
    const at = firstOverlap(completed, failed, completions);
    const why = `failedIndexes and completedIndexes overlap at index: ${at}`;
    if (at !== undefined) errors.push(invalid('status.failedIndexes', failed, why));
  }
  return [...errors, ...podErrors({ status, turned: now.finished !== then.finished, now, changed })];
}

interface PodCheck {
  readonly status: JsonObject;
  readonly turned: boolean;
  readonly now: Facts;
  changed(...fields: string[]): boolean;
}

function podErrors({ status, turned, now, changed }: PodCheck): FieldError[] {
  const errors: FieldError[] = [];
  const [terminating, ready] = [number(status, 'terminating') ?? 0, number(status, 'ready')];
  if ((turned || changed('terminating')) && terminating > 0 && now.finished)
    errors.push(invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job'));
  if (changed('ready', 'active') && ready !== undefined && ready > (number(status, 'active') ?? 0))
    errors.push(invalid('status.ready', ready, 'cannot set more ready pods than active'));
  return errors;
}

function criteriaErrors({ spec, now }: Change): FieldError[] {
  const errors: FieldError[] = [];
  if (now.criteriaMet && now.failed)
    errors.push(together('SuccessCriteriaMet=True and Failed=true conditions'));
  if (now.criteriaMet && now.failureTarget)
    errors.push(together('SuccessCriteriaMet=True and FailureTarget=true conditions'));
  if (has(spec, 'successPolicy') && !now.criteriaMet && now.complete)
    errors.push(together('Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True'));
  return errors;
}

const FINAL = ['Failed', 'Complete', 'FailureTarget'];

function transitionErrors({ spec, status, before, now, previously: then, changed }: Change): FieldError[] {
  const errors = FINAL.filter((type) => isConditionTrue(before, type) && !isConditionTrue(status, type)).map(
    (type) => invalidWithout('status.conditions', `cannot disable the terminal ${type}=True condition`),
  );
  const fell = (name: string) => (number(status, name) ?? 0) < (number(before, name) ?? 0);
  const decreased = (name: string) =>
    invalid(`status.${name}`, number(status, name) ?? 0, `cannot decrease the ${name} counter`);
  const scalable =
    text(spec, 'completionMode') === 'Indexed' &&
    equal(value(spec, 'completions'), value(spec, 'parallelism'));
  if (fell('failed')) errors.push(decreased('failed'));
  if (fell('succeeded') && !scalable) errors.push(decreased('succeeded'));
  const completion = value(status, 'completionTime');
  if (completion !== undefined && has(before, 'completionTime') && changed('completionTime'))
    errors.push(invalid('status.completionTime', completion, 'field is immutable'));
  const resuming = isConditionTrue(before, 'Suspended') && hasCondition(status, 'Suspended', 'False');
  if (changed('startTime') && !resuming && has(before, 'startTime') && flag(spec, 'suspend') !== true) {
    const why = 'field is immutable for unsuspended job once set';
    errors.push(invalid('status.startTime', value(status, 'startTime') ?? null, why));
  }
  if (then.criteriaMet && !now.criteriaMet)
    errors.push(invalidWithout('status.conditions', 'cannot disable the SuccessCriteriaMet=True condition'));
  if (then.complete && !then.criteriaMet && now.criteriaMet)
    errors.push(together('SuccessCriteriaMet=True for Job already has Complete=true conditions'));
  return errors;
}
