// Validation of the spec of a Job: numbers, modes, policies and the Pod template.

import { type FieldError, invalid, notSupported, required, tooLong } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { domainPrefixedPath, nonNegative } from '../checks.ts';
import { selects, validateLabelSelector } from '../labelSelector.ts';
import { validatePodTemplate } from '../pod/template.ts';
import { child, has, number, part, sortedMap, stringMap, text } from '../values.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './jobPolicies.ts';

const MAX_MANAGED_BY = 63;
/** Above this number of completions, failures and parallelism have lower limits. */
const MANY_COMPLETIONS = 100_000;
const MAX_INDEXED_PARALLELISM = 100_000;
const MAX_FAILED_INDEXES = 100_000;
const MANY_LIMIT = 10_000;

/** The part shared by a Job and the template of a CronJob. */
export function validateJobSpec(spec: JsonObject, path: string): FieldError[] {
  return [
    ...validateNumbers(spec, path),
    ...validateManagedBy(spec, `${path}.managedBy`),
    ...validateMode(spec, path),
    ...(has(spec, 'podFailurePolicy') ? validateFailurePolicy(spec, `${path}.podFailurePolicy`) : []),
    ...(has(spec, 'successPolicy') ? validateSuccessPolicy(spec, `${path}.successPolicy`) : []),
    ...validateReplacement(spec, `${path}.podReplacementPolicy`),
    ...validatePodTemplate(part(spec, 'template'), `${path}.template`),
    ...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`),
  ];
}

/** The same for a Job itself, whose selector must match its own Pods. */
export function validateWithSelector(spec: JsonObject, path: string): FieldError[] {
  const selector = child(spec, 'selector');
  const labels = stringMap(part(part(spec, 'template'), 'metadata'), 'labels');
  const errors = validateJobSpec(spec, path);
  if (selector) errors.push(...validateLabelSelector(selector, `${path}.selector`));
  else errors.push(required(`${path}.selector`));
  if (selects(selector, labels) === false) {
    const why = '`selector` does not match template `labels`';
    errors.push(invalid(`${path}.template.metadata.labels`, sortedMap(labels), why));
  }
  return errors;
}

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

function validateNumbers(spec: JsonObject, path: string): FieldError[] {
  const errors = COUNTS.flatMap((name) => nonNegative(number(spec, name), `${path}.${name}`));
  if (has(spec, 'maxFailedIndexes') && !has(spec, 'backoffLimitPerIndex'))
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  return errors;
}

function validateManagedBy(spec: JsonObject, path: string): FieldError[] {
  if (!has(spec, 'managedBy')) return [];
  const manager = text(spec, 'managedBy');
  const errors = domainPrefixedPath(manager, path);
  if (Buffer.byteLength(manager) > MAX_MANAGED_BY) errors.push(tooLong(path, MAX_MANAGED_BY));
  return errors;
}

const MODES = ['NonIndexed', 'Indexed'];

function validateMode(spec: JsonObject, path: string): FieldError[] {
  const mode = has(spec, 'completionMode') ? text(spec, 'completionMode') : 'NonIndexed';
  if (mode === 'Indexed') return validateIndexed(spec, path);
  if (!MODES.includes(mode)) return [notSupported(`${path}.completionMode`, mode, MODES)];
  return ['backoffLimitPerIndex', 'maxFailedIndexes'].flatMap((name) =>
    has(spec, name)
      ? [invalid(`${path}.${name}`, number(spec, name), 'requires indexed completion mode')]
      : [],
  );
}

function validateIndexed(spec: JsonObject, path: string): FieldError[] {
  const [completions, parallelism] = [number(spec, 'completions'), number(spec, 'parallelism') ?? 0];
  const failed = number(spec, 'maxFailedIndexes');
  const errors: FieldError[] = [];
  const above = (name: string, value: number, why: string) =>
    errors.push(invalid(`${path}.${name}`, value, `must be less than or equal to ${why}`));
  if (completions === undefined)
    errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  if (parallelism > MAX_INDEXED_PARALLELISM)
    above('parallelism', parallelism, `${MAX_INDEXED_PARALLELISM} when completion mode is Indexed`);
  if (completions !== undefined && failed !== undefined && failed > completions)
    above('maxFailedIndexes', failed, 'completions');
  if (failed !== undefined && failed > MAX_FAILED_INDEXES)
    above('maxFailedIndexes', failed, String(MAX_FAILED_INDEXES));
  if ((completions ?? 0) <= MANY_COMPLETIONS || !has(spec, 'backoffLimitPerIndex')) return errors;
  const many = `${MANY_LIMIT} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
  if (failed === undefined)
    errors.push(
      required(`${path}.maxFailedIndexes`, `must be specified when completions is above ${MANY_COMPLETIONS}`),
    );
  if (parallelism > MANY_LIMIT) above('parallelism', parallelism, many);
  if (failed !== undefined && failed > MANY_LIMIT) above('maxFailedIndexes', failed, many);
  return errors;
}

function validateReplacement(spec: JsonObject, path: string): FieldError[] {
  if (!has(spec, 'podReplacementPolicy')) return [];
  const policy = text(spec, 'podReplacementPolicy');
  const supported = has(spec, 'podFailurePolicy') ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  return supported.includes(policy) ? [] : [notSupported(path, policy, supported)];
}

function validateRestartPolicy(spec: JsonObject, path: string): FieldError[] {
  const policy = text(part(part(spec, 'template'), 'spec'), 'restartPolicy');
  if (policy === '' || policy === 'Always') return [required(path, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never')
    return [notSupported(path, policy, ['OnFailure', 'Never'])];
  return has(spec, 'podFailurePolicy') && policy !== 'Never'
    ? [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    : [];
}
