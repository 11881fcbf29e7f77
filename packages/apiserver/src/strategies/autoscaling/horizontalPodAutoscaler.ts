// Strategy of HorizontalPodAutoscaler, in the form of v2. v1 is validated in that form, too.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { clone, type JsonObject } from '@lapse/kube/api/json';
import { type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { NOT_POSITIVE, nonNegative, oneOf } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { nonNegativeQuantity } from '../quantities.ts';
import {
  child,
  copyField,
  defaultTo,
  ensure,
  has,
  list,
  number,
  objects,
  part,
  text,
  value,
} from '../values.ts';
import { defaultMetrics, dropRoundTrip, toV2 } from './forms.ts';
import { segment, validateMetric } from './metrics.ts';

const POLICIES: Readonly<Record<string, JsonObject>> = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  },
  scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
};

function applyDefaults(hpa: KubeObject): void {
  dropRoundTrip(hpa);
  const spec = ensure(hpa, 'spec');
  if (list(spec, 'metrics').length === 0) spec['metrics'] = defaultMetrics();
  const behavior = child(spec, 'behavior');
  if (!behavior) return;
  for (const [field, defaults] of Object.entries(POLICIES)) {
    const rules = ensure(behavior, field);
    for (const [name, preset] of Object.entries(clone(defaults))) defaultTo(rules, name, preset!);
  }
}

interface ReferenceOptions {
  readonly isAnyVersion: boolean;
  readonly needsGroup: boolean;
}

const referenceErrors =
  ({ isAnyVersion, needsGroup }: ReferenceOptions) =>
  (reference: JsonObject, path: string): FieldError[] => {
    const version = text(reference, 'apiVersion');
    const refuse = (why: string) => [invalid(`${path}.apiVersion`, version, why)];
    const parsed = version === '' ? { group: '' } : parseApiVersion(version);
    const versionErrors = () => {
      if (!parsed) return refuse(`unexpected GroupVersion string: ${version}`);
      return needsGroup && parsed.group === '' ? refuse('apiVersion must specify API group') : [];
    };
    return [
      ...segment(text(reference, 'kind'), `${path}.kind`),
      ...segment(text(reference, 'name'), `${path}.name`),
      ...(isAnyVersion ? [] : versionErrors()),
    ];
  };

function validate(hpa: KubeObject, old?: KubeObject): FieldError[] {
  const spec = specOf(hpa);
  const least = old && number(specOf(old), 'minReplicas') === 0 ? 0 : 1;
  return [
    ...replicaErrors(number(spec, 'minReplicas'), number(spec, 'maxReplicas') ?? 0, least),
    ...targetErrors(spec, old && specOf(old)),
    ...metricErrors(spec, old && specOf(old)),
    ...['scaleUp', 'scaleDown'].flatMap((field) => {
      const rules = child(child(spec, 'behavior'), field);
      return rules ? validateRules(rules, `spec.behavior.${field}`) : [];
    }),
  ];
}

function replicaErrors(min: number | undefined, max: number, least: number): FieldError[] {
  const path = 'spec.maxReplicas';
  return [
    ...(min !== undefined && min < least
      ? [invalid('spec.minReplicas', min, `must be greater than or equal to ${least}`)]
      : []),
    ...(max === 0 ? [required(path, 'must be set and greater than 0')] : []),
    ...(max < 0 ? [invalid(path, max, 'must be greater than or equal to 1')] : []),
    ...(min !== undefined && max < min
      ? [invalid(path, max, 'must be greater than or equal to `minReplicas`')]
      : []),
  ];
}

function targetErrors(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const target = part(spec, 'scaleTargetRef');
  const before = old && part(old, 'scaleTargetRef');
  const isAnyVersion =
    before !== undefined &&
    ['apiVersion', 'kind'].every((field) => text(before, field) === text(target, field));
  const needsGroup = text(target, 'kind') !== 'ReplicationController';
  return referenceErrors({ isAnyVersion, needsGroup })(target, 'spec.scaleTargetRef');
}

function metricErrors(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const metrics = objects(spec, 'metrics');
  const isBad = (metric: JsonObject) => {
    const version = text(part(child(metric, 'object'), 'describedObject'), 'apiVersion');
    return text(metric, 'type') === 'Object' && version !== '' && !parseApiVersion(version);
  };
  const isAnyVersion = old !== undefined && objects(old, 'metrics').some(isBad);
  const reference = referenceErrors({ isAnyVersion, needsGroup: false });
  const isScaledToZero = number(spec, 'minReplicas') === 0;
  const canScaleToZero = metrics.some((m) => ['Object', 'External'].includes(text(m, 'type')));
  const zero = 'must specify at least one Object or External metric to support scaling to zero replicas';
  return [
    ...metrics.flatMap((metric, i) => validateMetric(metric, `spec.metrics[${i}]`, reference)),
    ...(isScaledToZero && !canScaleToZero ? [forbidden('spec.metrics', zero)] : []),
  ];
}

const MAX_WINDOW = 3600;
const MAX_PERIOD = 1800;

function validateRules(rules: JsonObject, path: string): FieldError[] {
  const seconds = number(rules, 'stabilizationWindowSeconds') ?? 0;
  const at = `${path}.stabilizationWindowSeconds`;
  const policies = objects(rules, 'policies');
  const tolerance = value(rules, 'tolerance');
  return [
    ...(seconds < 0 ? [invalid(at, seconds, 'must be greater than or equal to zero')] : []),
    ...(seconds > MAX_WINDOW ? [invalid(at, seconds, `must be less than or equal to ${MAX_WINDOW}`)] : []),
    ...(has(rules, 'selectPolicy')
      ? oneOf(text(rules, 'selectPolicy'), ['Disabled', 'Max', 'Min'], `${path}.selectPolicy`)
      : []),
    ...(policies.length === 0 ? [required(`${path}.policies`, 'must specify at least one Policy')] : []),
    ...policies.flatMap((policy, i) => validatePolicy(policy, `${path}.policies[${i}]`)),
    ...(tolerance === undefined ? [] : nonNegativeQuantity(tolerance, `${path}.tolerance`)),
  ];
}

function validatePolicy(policy: JsonObject, path: string): FieldError[] {
  const [amount, period] = [number(policy, 'value') ?? 0, number(policy, 'periodSeconds') ?? 0];
  const type = text(policy, 'type');
  return [
    ...(['Percent', 'Pods'].includes(type) ? [] : [notSupported(`${path}.type`, type, ['Percent', 'Pods'])]),
    ...(amount <= 0 ? [invalid(`${path}.value`, amount, NOT_POSITIVE)] : []),
    ...(period <= 0 ? [invalid(`${path}.periodSeconds`, period, NOT_POSITIVE)] : []),
    ...(period > MAX_PERIOD
      ? [invalid(`${path}.periodSeconds`, period, `must be less than or equal to ${MAX_PERIOD}`)]
      : []),
  ];
}

const statusErrors = (hpa: KubeObject): FieldError[] =>
  ['currentReplicas', 'desiredReplicas'].flatMap((field) =>
    nonNegative(number(statusOf(hpa), field), `status.${field}`),
  );

const strategy = (emptyStatus: JsonObject, form: (hpa: KubeObject) => KubeObject): Strategy => ({
  nameRule: subdomainName,
  prepareForCreate: (hpa) => {
    hpa['status'] = { ...emptyStatus };
  },
  validate: (hpa) => validate(form(hpa)),
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validateUpdate: (next, old) => validate(form(next), form(old)),
  subresources: {
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validateUpdate: statusErrors,
    },
  },
});

export const autoscalerStrategy: Strategy = {
  ...strategy({ desiredReplicas: 0, currentMetrics: null }, (hpa) => hpa),
  applyDefaults,
};

export const autoscalerV1Strategy: Strategy = strategy({ currentReplicas: 0, desiredReplicas: 0 }, toV2);
