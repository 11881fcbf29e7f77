// Validation of podFailurePolicy and successPolicy of a Job.

import {
  duplicate,
  type FieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { invalidWithout, nonNegative, qualifiedName } from '../checks.ts';
import { child, has, list, number, objects, part, text } from '../values.ts';
import { countIndexes, IndexError } from './indexes.ts';

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_PATTERNS = 20;
const MAX_INDEXES = 64 * 1024;

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];

/** `required` or `not supported`, with Go's text for a list. */
function choice(value: string, supported: readonly string[], path: string): FieldError[] {
  if (value === '') return [required(path, `valid values: [${supported.map((v) => `"${v}"`).join(' ')}]`)];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

export function validateFailurePolicy(spec: JsonObject, path: string): FieldError[] {
  const rules = objects(part(spec, 'podFailurePolicy'), 'rules');
  const pod = part(part(spec, 'template'), 'spec');
  const containers = ['containers', 'initContainers'].flatMap((f) =>
    objects(pod, f).map((c) => text(c, 'name')),
  );
  return [
    ...(rules.length > MAX_RULES ? [tooMany(`${path}.rules`, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, i) => validateRule(rule, { spec, containers }, `${path}.rules[${i}]`)),
  ];
}

interface RuleContext {
  readonly spec: JsonObject;
  readonly containers: readonly string[];
}

function validateRule(rule: JsonObject, { spec, containers }: RuleContext, path: string): FieldError[] {
  const action = text(rule, 'action');
  const codes = child(rule, 'onExitCodes');
  const patterns = objects(rule, 'onPodConditions');
  const errors =
    action === 'FailIndex' && !has(spec, 'backoffLimitPerIndex')
      ? [invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set')]
      : choice(action, ACTIONS, `${path}.action`);
  if (codes) errors.push(...validateExitCodes(codes, containers, `${path}.onExitCodes`));
  if (patterns.length > 0) errors.push(...validatePatterns(patterns, `${path}.onPodConditions`));
  if (codes && patterns.length > 0)
    errors.push(invalidWithout(path, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  if (!codes && patterns.length === 0)
    errors.push(invalidWithout(path, 'specifying one of OnExitCodes and OnPodConditions is required'));
  return errors;
}

function validatePatterns(patterns: JsonObject[], path: string): FieldError[] {
  return [
    ...(patterns.length > MAX_PATTERNS ? [tooMany(path, patterns.length, MAX_PATTERNS)] : []),
    ...patterns.flatMap((pattern, i) => [
      ...qualifiedName(text(pattern, 'type'), `${path}[${i}].type`),
      ...choice(text(pattern, 'status'), STATUSES, `${path}[${i}].status`),
    ]),
  ];
}

function validateExitCodes(codes: JsonObject, containers: readonly string[], path: string): FieldError[] {
  const operator = text(codes, 'operator');
  const container = text(codes, 'containerName');
  const values = list(codes, 'values').map(Number);
  const errors = choice(operator, OPERATORS, `${path}.operator`);
  if (has(codes, 'containerName') && !containers.includes(container)) {
    const why = 'must be one of the container or initContainer names in the pod template';
    errors.push(invalid(`${path}.containerName`, container, why));
  }
  if (values.length === 0) errors.push(invalid(`${path}.values`, [], 'at least one value is required'));
  else if (values.length > MAX_EXIT_CODES)
    errors.push(tooMany(`${path}.values`, values.length, MAX_EXIT_CODES));
  values.forEach((code, i) => {
    if (operator === 'In' && code === 0)
      errors.push(invalid(`${path}.values[${i}]`, code, 'must not be 0 for the In operator'));
    if (values.indexOf(code) < i) errors.push(duplicate(`${path}.values[${i}]`, code));
  });
  if (values.some((code, i) => i > 0 && values[i - 1]! > code))
    errors.push(invalid(`${path}.values`, values, 'must be ordered'));
  return errors;
}

export function validateSuccessPolicy(spec: JsonObject, path: string): FieldError[] {
  const policy = part(spec, 'successPolicy');
  if (text(spec, 'completionMode') !== 'Indexed')
    return [invalid(path, policy, 'requires indexed completion mode')];
  const rules = objects(policy, 'rules');
  const none = 'at least one rules must be specified when the successPolicy is specified';
  // Without completions the rules cannot be validated; the spec is already invalid.
  const completions = number(spec, 'completions') ?? 0;
  return [
    ...(rules.length === 0 ? [required(`${path}.rules`, none)] : []),
    ...(rules.length > MAX_RULES ? [tooMany(`${path}.rules`, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, i) => validateSuccessRule(rule, completions, `${path}.rules[${i}]`)),
  ];
}

function validateSuccessRule(rule: JsonObject, completions: number, path: string): FieldError[] {
  const count = number(rule, 'succeededCount');
  const indexes = has(rule, 'succeededIndexes') ? text(rule, 'succeededIndexes') : undefined;
  const errors: FieldError[] = [];
  if (count === undefined && indexes === undefined)
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'));
  let total = 0;
  if (indexes !== undefined) {
    const at = `${path}.succeededIndexes`;
    if (indexes.length > MAX_INDEXES) errors.push(tooLong(at, MAX_INDEXES));
    try {
      total = countIndexes(indexes, completions);
    } catch (cause) {
      if (!(cause instanceof IndexError)) throw cause;
      errors.push(invalid(at, indexes, `error parsing succeededIndexes: ${cause.message}`));
    }
  }
  if (count === undefined) return errors;
  const at = `${path}.succeededCount`;
  const limit = (max: number, what: string) =>
    invalid(at, count, `must be less than or equal to ${max} (the number of ${what})`);
  errors.push(...nonNegative(count, at));
  if (count > completions) errors.push(limit(completions, 'specified completions'));
  if (indexes !== undefined && count > total)
    errors.push(limit(total, 'indexes in the specified succeededIndexes field'));
  return errors;
}
