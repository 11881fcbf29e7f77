// Strategies of Deployment and ReplicaSet.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf, type UpdateStrategy } from '../../resources/resource.ts';
import { immutable, nonNegative } from '../checks.ts';
import { amountOf, notAbove100Percent, positiveIntOrPercent } from '../intOrPercent.ts';
import { sortedSelector, validateLabelSelector } from '../labelSelector.ts';
import { subdomainName } from '../names.ts';
import { defaultPodSpec } from '../pod/defaults.ts';
import { validatePodTemplate } from '../pod/template.ts';
import { child, copyField, defaultTo, ensure, number, part, text, value } from '../values.ts';
import {
  availableErrors,
  collisionErrors,
  countErrors,
  mismatchErrors,
  namedWarnings,
  restartErrors,
  selectorErrors,
  templateOf,
  templateWarnings,
} from './workload.ts';

/** Validates replicas, selector and template, for both kinds. */
function validateTemplate(spec: JsonObject): FieldError[] {
  const selector = child(spec, 'selector');
  const senseless = selector !== undefined && validateLabelSelector(selector, '').length > 0;
  return [
    ...selectorErrors(spec, 'deployment'),
    ...(senseless
      ? [invalid('spec.selector', sortedSelector(selector), 'invalid label selector')]
      : [
          ...mismatchErrors(spec, true),
          ...validatePodTemplate(templateOf(spec), 'spec.template'),
          ...restartErrors(spec, 'ReplicaSet'),
        ]),
  ];
}

function validateDeployment(deployment: KubeObject): FieldError[] {
  const spec = specOf(deployment);
  const deadline = number(spec, 'progressDeadlineSeconds');
  const path = 'spec.progressDeadlineSeconds';
  return [
    ...nonNegative(number(spec, 'replicas'), 'spec.replicas'),
    ...validateTemplate(spec),
    ...validateStrategy(part(spec, 'strategy'), 'spec.strategy'),
    ...nonNegative(number(spec, 'minReadySeconds'), 'spec.minReadySeconds'),
    ...nonNegative(number(spec, 'revisionHistoryLimit'), 'spec.revisionHistoryLimit'),
    ...nonNegative(deadline, path),
    ...(deadline !== undefined && deadline <= (number(spec, 'minReadySeconds') ?? 0)
      ? [invalid(path, deadline, 'must be greater than minReadySeconds')]
      : []),
  ];
}

function validateStrategy(strategy: JsonObject, path: string): FieldError[] {
  const rolling = child(strategy, 'rollingUpdate');
  const type = text(strategy, 'type');
  if (type === 'Recreate')
    return rolling
      ? [forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
      : [];
  if (type !== 'RollingUpdate') return [notSupported(path, strategy, ['Recreate', 'RollingUpdate'])];
  const at = `${path}.rollingUpdate`;
  if (!rolling) return [required(at, 'this should be defaulted and never be nil')];
  const [unavailable, surge] = [value(rolling, 'maxUnavailable'), value(rolling, 'maxSurge')];
  return [
    ...positiveIntOrPercent(unavailable, `${at}.maxUnavailable`),
    ...positiveIntOrPercent(surge, `${at}.maxSurge`),
    ...(amountOf(unavailable) === 0 && amountOf(surge) === 0
      ? [invalid(`${at}.maxUnavailable`, unavailable, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...notAbove100Percent(unavailable, `${at}.maxUnavailable`),
  ];
}

function defaultDeployment(deployment: KubeObject): void {
  const spec = ensure(deployment, 'spec');
  defaultPodSpec(child(child(spec, 'template'), 'spec'));
  const strategy = ensure(spec, 'strategy');
  if (!['', 'RollingUpdate'].includes(text(strategy, 'type'))) return;
  const rolling = ensure(strategy, 'rollingUpdate');
  defaultTo(rolling, 'maxUnavailable', '25%');
  defaultTo(rolling, 'maxSurge', '25%');
}

const DEPLOYMENT_COUNTS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
];

const sameSelector = (next: KubeObject, old: KubeObject): FieldError[] =>
  immutable(value(specOf(next), 'selector'), value(specOf(old), 'selector'), 'spec.selector');

const warnings = (next: KubeObject, old: KubeObject | undefined): string[] => {
  if (!old) return [...namedWarnings(next), ...templateWarnings(next)];
  return next.metadata.generation === old.metadata.generation ? [] : templateWarnings(next);
};

/** Used for the object and for /scale. */
const deploymentUpdate: UpdateStrategy = {
  prepareForUpdate(next, old) {
    copyField(next, old, 'status');
    // Annotations are copied to the ReplicaSets, so they count as a change.
    const same = equal(next.metadata.annotations ?? {}, old.metadata.annotations ?? {});
    if (!same) next.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validateUpdate: (next, old) => [...validateDeployment(next), ...sameSelector(next, old)],
  warnings,
};

export const deploymentStrategy: Strategy = {
  ...deploymentUpdate,
  nameRule: subdomainName,
  generation: true,
  applyDefaults: defaultDeployment,
  prepareForCreate: (deployment) => {
    deployment['status'] = {};
  },
  validate: validateDeployment,
  subresources: {
    scale: deploymentUpdate,
    status: {
      prepareForUpdate(next, old) {
        copyField(next, old, 'spec');
        copyField(
          next.metadata as Record<string, unknown>,
          old.metadata as Record<string, unknown>,
          'labels',
        );
      },
      validateUpdate: (next, old) => [
        ...countErrors(statusOf(next), DEPLOYMENT_COUNTS, [
          'updatedReplicas',
          'readyReplicas',
          'availableReplicas',
        ]),
        ...availableErrors(statusOf(next), 'readyReplicas'),
        ...collisionErrors(next, old),
      ],
    },
  },
};

const REPLICA_COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
];

function validateReplicaSet(set: KubeObject): FieldError[] {
  const spec = specOf(set);
  return [
    ...nonNegative(number(spec, 'replicas'), 'spec.replicas'),
    ...nonNegative(number(spec, 'minReadySeconds'), 'spec.minReadySeconds'),
    ...validateTemplate(spec),
  ];
}

const replicaSetUpdate: UpdateStrategy = {
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validateUpdate: (next, old) => [...validateReplicaSet(next), ...sameSelector(next, old)],
  warnings,
};

export const replicaSetStrategy: Strategy = {
  ...replicaSetUpdate,
  nameRule: subdomainName,
  generation: true,
  applyDefaults: (set) => defaultPodSpec(child(child(child(set, 'spec'), 'template'), 'spec')),
  prepareForCreate: (set) => {
    set['status'] = { replicas: 0 };
  },
  validate: validateReplicaSet,
  subresources: {
    scale: replicaSetUpdate,
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validateUpdate: (next) => [
        ...countErrors(statusOf(next), REPLICA_COUNTS, [
          'fullyLabeledReplicas',
          'readyReplicas',
          'availableReplicas',
        ]),
        ...availableErrors(statusOf(next), 'readyReplicas'),
      ],
    },
  },
};
