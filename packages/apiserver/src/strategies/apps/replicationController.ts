// Strategy of ReplicationController. Its selector is a map, and defaults to the labels of the template.

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf, type UpdateStrategy } from '../../resources/resource.ts';
import { nonNegative } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { defaultPodSpec } from '../pod/defaults.ts';
import { validatePodTemplate } from '../pod/template.ts';
import { child, copyField, ensure, has, number, part, sortedMap, stringMap } from '../values.ts';
import {
  availableErrors,
  countErrors,
  namedWarnings,
  restartErrors,
  templateOf,
  templateWarnings,
} from './workload.ts';

const labelsOf = (template: JsonObject | undefined): Record<string, string> =>
  stringMap(part(template, 'metadata'), 'labels');

function applyDefaults(controller: KubeObject): void {
  const spec = ensure(controller, 'spec');
  const template = child(spec, 'template');
  defaultPodSpec(child(template, 'spec'));
  const labels = labelsOf(template);
  if (Object.keys(labels).length === 0) return;
  if (Object.keys(stringMap(spec, 'selector')).length === 0) spec['selector'] = { ...labels };
  if (Object.keys(controller.metadata.labels ?? {}).length === 0) controller.metadata.labels = { ...labels };
}

function validate(controller: KubeObject): FieldError[] {
  const spec = specOf(controller);
  const selector = stringMap(spec, 'selector');
  return [
    ...nonNegative(number(spec, 'minReadySeconds'), 'spec.minReadySeconds'),
    ...(Object.keys(selector).length === 0 ? [required('spec.selector')] : []),
    ...(has(spec, 'replicas') ? [] : [required('spec.replicas')]),
    ...nonNegative(number(spec, 'replicas'), 'spec.replicas'),
    ...(child(spec, 'template') ? templateErrors(spec, selector) : [required('spec.template')]),
  ];
}

function templateErrors(spec: JsonObject, selector: Readonly<Record<string, string>>): FieldError[] {
  const labels = labelsOf(templateOf(spec));
  const matches = Object.entries(selector).every(([k, v]) => Object.hasOwn(labels, k) && labels[k] === v);
  const path = 'spec.template';
  return [
    ...(matches
      ? []
      : [
          invalid(
            `${path}.metadata.labels`,
            sortedMap(labels),
            '`selector` does not match template `labels`',
          ),
        ]),
    ...validatePodTemplate(templateOf(spec), path),
    ...restartErrors(spec, 'ReplicationController'),
  ];
}

const COUNTS = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
];
const BOUNDED = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];

/** Used for the object and for /scale. */
const update: UpdateStrategy = {
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validateUpdate: validate,
  warnings: (next, old) => {
    if (!old) return [...namedWarnings(next), ...templateWarnings(next)];
    return next.metadata.generation === old.metadata.generation ? [] : templateWarnings(next);
  },
};

export const replicationControllerStrategy: Strategy = {
  ...update,
  nameRule: subdomainName,
  generation: true,
  defaultPropagation: 'Orphan',
  applyDefaults,
  prepareForCreate: (controller) => {
    controller['status'] = { replicas: 0 };
  },
  validate,
  subresources: {
    scale: update,
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validateUpdate: (next) => [
        ...countErrors(statusOf(next), COUNTS, BOUNDED),
        ...availableErrors(statusOf(next), 'readyReplicas'),
      ],
    },
  },
};
