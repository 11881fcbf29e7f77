// Shared by Deployments, ReplicaSets, StatefulSets and DaemonSets: a selector that matches the template, Pods that
// always restart, and counts in the status.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { specOf, statusOf } from '../../resources/resource.ts';
import { nonNegative } from '../checks.ts';
import { isEmptySelector, selects, sortedSelector, validateLabelSelector } from '../labelSelector.ts';
import { labelName } from '../names.ts';
import { podWarnings } from '../pod/warnings.ts';
import { child, has, number, part, sortedMap, stringMap, text } from '../values.ts';

export const templateOf = (spec: JsonObject): JsonObject => part(spec, 'template');

/** `noun`: the kind in the error for an empty selector. */
export function selectorErrors(spec: JsonObject, noun: string): FieldError[] {
  const selector = child(spec, 'selector');
  if (!selector) return [required('spec.selector')];
  return [
    ...validateLabelSelector(selector, 'spec.selector'),
    ...(isEmptySelector(selector)
      ? [invalid('spec.selector', sortedSelector(selector), `empty selector is invalid for ${noun}`)]
      : []),
  ];
}

/** Errors when the selector does not match the template; none for an empty selector if `allowEmpty`. */
export function mismatchErrors(spec: JsonObject, allowEmpty: boolean): FieldError[] {
  const selector = child(spec, 'selector');
  const labels = stringMap(part(templateOf(spec), 'metadata'), 'labels');
  if (allowEmpty && selector && isEmptySelector(selector)) return [];
  if (selects(selector, labels) !== false) return [];
  const why = '`selector` does not match template `labels`';
  return [invalid('spec.template.metadata.labels', sortedMap(labels), why)];
}

/** Pods of these kinds have restartPolicy Always and no deadline. */
export function restartErrors(spec: JsonObject, noun: string): FieldError[] {
  const pod = part(templateOf(spec), 'spec');
  const path = 'spec.template.spec';
  const policy = text(pod, 'restartPolicy');
  return [
    ...(policy === 'Always' ? [] : [notSupported(`${path}.restartPolicy`, policy, ['Always'])]),
    ...(has(pod, 'activeDeadlineSeconds')
      ? [forbidden(`${path}.activeDeadlineSeconds`, `activeDeadlineSeconds in ${noun} is not Supported`)]
      : []),
  ];
}

/** Counts of a status: not negative, and the listed ones at most `replicas`. */
export function countErrors(
  status: JsonObject,
  counts: readonly string[],
  bounded: readonly string[],
): FieldError[] {
  const total = number(status, 'replicas') ?? 0;
  return [
    ...counts.flatMap((name) => nonNegative(number(status, name), `status.${name}`)),
    ...bounded.flatMap((name) => {
      const count = number(status, name) ?? 0;
      return count > total
        ? [invalid(`status.${name}`, count, 'cannot be greater than status.replicas')]
        : [];
    }),
  ];
}

export function availableErrors(status: JsonObject, shown: string): FieldError[] {
  const [available, ready] = [number(status, 'availableReplicas') ?? 0, number(status, 'readyReplicas') ?? 0];
  return available > ready
    ? [invalid('status.availableReplicas', available, `cannot be greater than ${shown}`)]
    : [];
}

export function collisionErrors(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, then] = [number(statusOf(next), 'collisionCount'), number(statusOf(old), 'collisionCount')];
  return then !== undefined && (now ?? 0) < then
    ? [invalid('status.collisionCount', now ?? 0, 'cannot be decremented')]
    : [];
}

export const templateWarnings = (object: KubeObject): string[] =>
  podWarnings(part(templateOf(specOf(object)), 'spec'), 'spec.template.');

/** The name becomes part of the names and host names of Pods. */
export function namedWarnings(object: KubeObject): string[] {
  const odd = labelName(object.metadata.name ?? '');
  const why = 'this is used in Pod names and hostnames, which can result in surprising behavior';
  return odd.length > 0 ? [`metadata.name: ${why}; a DNS label is recommended: [${odd.join(' ')}]`] : [];
}
