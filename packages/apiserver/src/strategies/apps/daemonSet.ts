// Strategies of DaemonSet and ControllerRevision. An annotation holds the template generation of a DaemonSet.

import { type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { equal, isObject, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { immutable, metaOf, metaUpdate, nonNegative } from '../checks.ts';
import { amountOf, notAbove100Percent, positiveIntOrPercent } from '../intOrPercent.ts';
import { isEmptySelector, sortedSelector, validateLabelSelector } from '../labelSelector.ts';
import { subdomainName } from '../names.ts';
import { defaultPodSpec } from '../pod/defaults.ts';
import { validatePodTemplate } from '../pod/template.ts';
import { child, copyField, defaultTo, ensure, number, part, text, value } from '../values.ts';
import { collisionErrors, mismatchErrors, restartErrors, templateOf, templateWarnings } from './workload.ts';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function defaultSet(set: KubeObject): void {
  const spec = ensure(set, 'spec');
  defaultPodSpec(child(child(spec, 'template'), 'spec'));
  const strategy = ensure(spec, 'updateStrategy');
  const isRolling = ['', 'RollingUpdate'].includes(text(strategy, 'type'));
  const rolling = isRolling ? ensure(strategy, 'rollingUpdate') : child(strategy, 'rollingUpdate');
  if (!rolling) return;
  // For other strategies the internal type keeps zeros.
  defaultTo(rolling, 'maxUnavailable', isRolling ? 1 : 0);
  defaultTo(rolling, 'maxSurge', 0);
}

const templateGeneration = (set: KubeObject): number =>
  Number.parseInt(set.metadata.annotations?.[TEMPLATE_GENERATION] ?? '0', 10) || 0;

function setTemplateGeneration({ metadata }: KubeObject, generation: number): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

function validate(set: KubeObject): FieldError[] {
  const spec = specOf(set);
  const selector = child(spec, 'selector');
  return [
    ...validateLabelSelector(selector, 'spec.selector'),
    ...mismatchErrors(spec, false),
    ...(selector && isEmptySelector(selector)
      ? [invalid('spec.selector', sortedSelector(selector), 'empty selector is invalid for daemonset')]
      : []),
    ...validatePodTemplate(templateOf(spec), 'spec.template'),
    ...restartErrors(spec, 'DaemonSet'),
    ...nonNegative(number(spec, 'minReadySeconds'), 'spec.minReadySeconds'),
    ...strategyErrors(part(spec, 'updateStrategy')),
    ...nonNegative(number(spec, 'revisionHistoryLimit'), 'spec.revisionHistoryLimit'),
  ];
}

function strategyErrors(strategy: JsonObject): FieldError[] {
  const path = 'spec.updateStrategy';
  const type = text(strategy, 'type');
  if (type === 'OnDelete') return [];
  if (type !== 'RollingUpdate') return [notSupported(path, strategy, ['RollingUpdate', 'OnDelete'])];
  const rolling = child(strategy, 'rollingUpdate');
  const at = `${path}.rollingUpdate`;
  if (!rolling) return [required(at)];
  const [unavailable, surge] = [value(rolling, 'maxUnavailable'), value(rolling, 'maxSurge')];
  const errors = [
    ...positiveIntOrPercent(unavailable, `${at}.maxUnavailable`),
    ...positiveIntOrPercent(surge, `${at}.maxSurge`),
    ...notAbove100Percent(unavailable, `${at}.maxUnavailable`),
    ...notAbove100Percent(surge, `${at}.maxSurge`),
  ];
  const [downs, ups] = [amountOf(unavailable) !== 0, amountOf(surge) !== 0];
  if (downs && ups)
    errors.push(invalid(`${at}.maxSurge`, surge, 'may not be set when maxUnavailable is non-zero'));
  if (!downs && !ups) errors.push(required(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  return errors;
}

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

export const daemonSetStrategy: Strategy = {
  nameRule: subdomainName,
  generation: true,
  applyDefaults: defaultSet,
  prepareForCreate(set) {
    set['status'] = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    };
    setTemplateGeneration(set, Math.max(1, templateGeneration(set)));
  },
  validate,
  prepareForUpdate(next, old) {
    copyField(next, old, 'status');
    const same = equal(templateOf(specOf(next)), templateOf(specOf(old)));
    setTemplateGeneration(next, templateGeneration(old) + (same ? 0 : 1));
  },
  validateUpdate: (next, old) => [
    ...immutable(value(specOf(next), 'selector'), value(specOf(old), 'selector'), 'spec.selector'),
    ...validate(next),
  ],
  warnings: (next, old) =>
    old && templateGeneration(next) === templateGeneration(old) ? [] : templateWarnings(next),
  subresources: {
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validateUpdate: (next, old) => [
        ...COUNTS.flatMap((name) => nonNegative(number(statusOf(next), name), `status.${name}`)),
        ...collisionErrors(next, old),
      ],
    },
  },
};

const validateRevision = (revision: KubeObject): FieldError[] =>
  nonNegative(number(revision, 'revision'), 'revision');

function dataErrors(revision: KubeObject): FieldError[] {
  const data = value(revision, 'data');
  if (data === undefined || data === null) return [required('data', 'data is mandatory')];
  return isObject(data) ? [] : [required('data', 'data must be a valid JSON object')];
}

export const controllerRevisionStrategy: Strategy = {
  nameRule: subdomainName,
  validate: (revision) => [...validateRevision(revision), ...dataErrors(revision)],
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...metaOf(next, true, subdomainName),
    ...validateRevision(next),
    ...immutable(value(next, 'data'), value(old, 'data'), 'data'),
  ],
};
