// PriorityClass: its strategy, the plugin that allows one default, and the class of a Pod.

import { forbidden as refused } from '@lapse/kube/api/errors';
import { type FieldError, forbidden } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy, StrategyContext } from '../../resources/resource.ts';
import { immutable, oneOf } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { defaultTo, flag, has, number, text, value } from '../values.ts';

export const PRIORITY_CLASSES = 'priorityclasses.scheduling.k8s.io';
const RESOURCE = { group: 'scheduling.k8s.io', plural: 'priorityclasses' };

/** The priority classes of every cluster. */
const SYSTEM: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const SYSTEM_PREFIX = 'system-';
const HIGHEST = 1_000_000_000;

function validate(priorityClass: KubeObject): FieldError[] {
  const name = priorityClass.metadata.name ?? '';
  const policy = 'preemptionPolicy';
  return [
    ...(name.startsWith(SYSTEM_PREFIX) ? systemErrors(priorityClass) : []),
    ...(!name.startsWith(SYSTEM_PREFIX) && priorityOf(priorityClass) > HIGHEST
      ? [forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST}`)]
      : []),
    ...(has(priorityClass, policy)
      ? oneOf(text(priorityClass, policy), ['PreemptLowerPriority', 'Never'], policy)
      : []),
  ];
}

const priorityOf = (priorityClass: KubeObject): number => number(priorityClass, 'value') ?? 0;
const isDefault = (priorityClass: KubeObject): boolean => flag(priorityClass, 'globalDefault') === true;

function systemErrors(priorityClass: KubeObject): FieldError[] {
  const name = priorityClass.metadata.name!;
  const expected = Object.hasOwn(SYSTEM, name) ? SYSTEM[name] : undefined;
  const refuse = (why: string) => [
    forbidden(
      'metadata.name',
      `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${why}`,
    ),
  ];
  if (expected === undefined) return refuse(`${name} is not a known system priority class`);
  if (priorityOf(priorityClass) !== expected)
    return refuse(`value of ${name} PriorityClass must be ${expected}`);
  return isDefault(priorityClass) ? refuse(`globalDefault of ${name} PriorityClass must be false`) : [];
}

/** The Priority plugin: one class at most is the default. */
function approve(next: KubeObject, old: KubeObject | undefined, context: StrategyContext): void {
  if (!isDefault(next)) return;
  const other = defaultPriorityClass(context);
  if (!other || (old && other.metadata.name === next.metadata.name)) return;
  throw refused(
    RESOURCE,
    next.metadata.name ?? '',
    `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
  );
}

/** The class of Pods without one: of several defaults, the one with the lowest value. */
export function defaultPriorityClass(context: StrategyContext): KubeObject | undefined {
  let found: KubeObject | undefined;
  for (const candidate of context.list(PRIORITY_CLASSES))
    if (isDefault(candidate) && (!found || priorityOf(candidate) < priorityOf(found))) found = candidate;
  return found;
}

export const priorityClassStrategy: Strategy = {
  nameRule: subdomainName,
  applyDefaults: (priorityClass) => defaultTo(priorityClass, 'preemptionPolicy', 'PreemptLowerPriority'),
  approve,
  // Never incremented.
  prepareForCreate: ({ metadata }) => {
    metadata.generation = 1;
  },
  validate,
  validateUpdate: (next, old) => [
    ...(priorityOf(next) === priorityOf(old) ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...immutable(value(next, 'preemptionPolicy'), value(old, 'preemptionPolicy'), 'preemptionPolicy'),
  ],
};
