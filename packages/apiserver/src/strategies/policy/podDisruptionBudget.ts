// Strategy of PodDisruptionBudget. Its name only has to be a valid path segment.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { nonNegative, oneOf } from '../checks.ts';
import { validateConditions } from '../conditions.ts';
import { notAbove100Percent, positiveIntOrPercent } from '../intOrPercent.ts';
import { validateLabelSelector } from '../labelSelector.ts';
import { pathSegmentName } from '../names.ts';
import { child, copyField, has, number, objects, text, value } from '../values.ts';

function validate(budget: KubeObject): FieldError[] {
  const spec = specOf(budget);
  const both = has(spec, 'minAvailable') && has(spec, 'maxUnavailable');
  const amounts = ['minAvailable', 'maxUnavailable'].filter((f) => has(spec, f));
  const policy = 'unhealthyPodEvictionPolicy';
  return [
    ...(both ? [invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...amounts.flatMap((f) => [
      ...positiveIntOrPercent(value(spec, f), `spec.${f}`),
      ...notAbove100Percent(value(spec, f), `spec.${f}`),
    ]),
    ...validateLabelSelector(child(spec, 'selector'), 'spec.selector'),
    ...(has(spec, policy)
      ? oneOf(text(spec, policy), ['AlwaysAllow', 'IfHealthyBudget'], `spec.${policy}`)
      : []),
  ];
}

const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'];

export const podDisruptionBudgetStrategy: Strategy = {
  nameRule: pathSegmentName,
  anyFinalizer: true,
  generation: true,
  unconditionalUpdate: false,
  prepareForCreate: (budget) => {
    budget['status'] = Object.fromEntries(COUNTS.map((name) => [name, 0]));
  },
  validate,
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validatesMeta: true,
  validateUpdate: validate,
  subresources: {
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validatesMeta: true,
      validateUpdate: (next) => [
        ...validateConditions(objects(statusOf(next), 'conditions'), 'status.conditions'),
        ...COUNTS.flatMap((name) => nonNegative(number(statusOf(next), name), `status.${name}`)),
      ],
    },
  },
};
