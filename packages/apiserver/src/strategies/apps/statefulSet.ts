// Strategy of StatefulSet: only a few fields of its spec are mutable.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { clone, equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { validateAnnotations, validateLabels } from '../../metadata/validateMeta.ts';
import { type Strategy, specOf, statusOf, type UpdateStrategy } from '../../resources/resource.ts';
import { dnsLabel, metaUpdate, nonNegative } from '../checks.ts';
import { amountOf, notAbove100Percent, positiveIntOrPercent } from '../intOrPercent.ts';
import { sortedSelector, validateLabelSelector } from '../labelSelector.ts';
import { labelName } from '../names.ts';
import { defaultPodSpec } from '../pod/defaults.ts';
import { validatePodTemplate } from '../pod/template.ts';
import { validateClaimSpec } from '../storage/claimSpec.ts';
import {
  child,
  copyField,
  defaultTo,
  ensure,
  has,
  number,
  objects,
  part,
  stringMap,
  text,
  value,
} from '../values.ts';
import {
  availableErrors,
  collisionErrors,
  countErrors,
  mismatchErrors,
  restartErrors,
  selectorErrors,
  templateOf,
  templateWarnings,
} from './workload.ts';

function defaultSet(set: KubeObject): void {
  const spec = ensure(set, 'spec');
  defaultPodSpec(child(child(spec, 'template'), 'spec'));
  for (const claim of objects(spec, 'volumeClaimTemplates')) defaultClaim(claim);
  const strategy = ensure(spec, 'updateStrategy');
  const type = text(strategy, 'type');
  if (type === '') ensure(strategy, 'rollingUpdate');
  const rolling = child(strategy, 'rollingUpdate');
  if (rolling && ['', 'RollingUpdate'].includes(type)) defaultTo(rolling, 'partition', 0);
}

/** Claim templates are complete objects. */
function defaultClaim(claim: JsonObject): void {
  defaultTo(claim, 'apiVersion', 'v1');
  defaultTo(claim, 'kind', 'PersistentVolumeClaim');
}

interface Leniency {
  /** On update the service name and the claims are immutable, so stored values are accepted. */
  readonly stored: boolean;
}

function validateSpec(spec: JsonObject, { stored }: Leniency): FieldError[] {
  const service = text(spec, 'serviceName');
  const claims = objects(spec, 'volumeClaimTemplates');
  return [
    ...managementErrors(text(spec, 'podManagementPolicy')),
    ...strategyErrors(part(spec, 'updateStrategy')),
    ...retentionErrors(part(spec, 'persistentVolumeClaimRetentionPolicy')),
    ...(stored
      ? []
      : claims.flatMap((c, i) => validateClaimSpec(part(c, 'spec'), `spec.volumeClaimTemplates[${i}].spec`))),
    ...nonNegative(number(spec, 'replicas'), 'spec.replicas'),
    ...nonNegative(number(spec, 'minReadySeconds'), 'spec.minReadySeconds'),
    ...nonNegative(number(child(spec, 'ordinals'), 'start'), 'spec.ordinals.start'),
    ...(stored || service === '' ? [] : dnsLabel(service, 'spec.serviceName')),
    ...selectorErrors(spec, 'statefulset'),
    ...templateErrors(spec),
    ...restartErrors(spec, 'StatefulSet'),
  ];
}

function managementErrors(policy: string): FieldError[] {
  const path = 'spec.podManagementPolicy';
  if (policy === '') return [required(path)];
  return ['OrderedReady', 'Parallel'].includes(policy)
    ? []
    : [invalid(path, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function strategyErrors(strategy: JsonObject): FieldError[] {
  const path = 'spec.updateStrategy';
  const [type, rolling] = [text(strategy, 'type'), child(strategy, 'rollingUpdate')];
  if (type === '') return [required(path)];
  if (type === 'OnDelete')
    return rolling
      ? [invalid(`${path}.rollingUpdate`, rolling, "only allowed for updateStrategy 'RollingUpdate'")]
      : [];
  if (type !== 'RollingUpdate') return [invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  if (!rolling) return [];
  const unavailable = value(rolling, 'maxUnavailable');
  const at = `${path}.rollingUpdate.maxUnavailable`;
  return [
    ...nonNegative(number(rolling, 'partition'), `${path}.rollingUpdate.partition`),
    ...(unavailable === undefined
      ? []
      : [
          ...positiveIntOrPercent(unavailable, at),
          ...(amountOf(unavailable) === 0 ? [invalid(at, unavailable, 'cannot be 0')] : []),
          ...notAbove100Percent(unavailable, at),
        ]),
  ];
}

const retentionErrors = (policy: JsonObject): FieldError[] =>
  ['whenDeleted', 'whenScaled'].flatMap((field) => {
    const chosen = text(policy, field);
    const path = `spec.persistentVolumeClaimRetentionPolicy.${field}`;
    return ['Retain', 'Delete'].includes(chosen) ? [] : [notSupported(path, chosen, ['Retain', 'Delete'])];
  });

/** Validates the template with the volumes of the claims, and without hostname and subdomain, which the controller sets. */
function templateErrors(spec: JsonObject): FieldError[] {
  const selector = child(spec, 'selector');
  if (selector && validateLabelSelector(selector, 'spec.selector').length > 0)
    return [invalid('spec.selector', sortedSelector(selector), '')];
  const template = clone(templateOf(spec));
  const pod = ensure(template, 'spec');
  delete pod['subdomain'];
  delete pod['hostname'];
  const templates = objects(spec, 'volumeClaimTemplates');
  const claims = [...new Set(templates.map((c) => text(part(c, 'metadata'), 'name')))];
  if (claims.length > 0)
    pod['volumes'] = [
      ...claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
      ...objects(pod, 'volumes').filter((v) => !claims.includes(text(v, 'name'))),
    ];
  const meta = part(template, 'metadata');
  return [
    ...mismatchErrors(spec, true),
    ...validatePodTemplate(template, 'spec.template'),
    // kube-apiserver validates these twice.
    ...validateLabels(stringMap(meta, 'labels'), 'spec.template.labels'),
    ...validateAnnotations(stringMap(meta, 'annotations'), 'spec.template.annotations'),
  ];
}

const MUTABLE = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];

function changeErrors(next: KubeObject, old: KubeObject): FieldError[] {
  const wanted = clone(specOf(next));
  for (const field of MUTABLE) copyField(wanted, specOf(old), field);
  if (equal(wanted, specOf(old))) return [];
  const why =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [forbidden('spec', why)];
}

const COUNTS = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
];
const BOUNDED = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];

/** Drops a field of a feature gate that is disabled by default. */
function dropUnavailable(next: KubeObject, old: KubeObject | undefined): void {
  const rolling = (set: KubeObject | undefined) =>
    child(child(child(set, 'spec'), 'updateStrategy'), 'rollingUpdate');
  if (!has(rolling(old), 'maxUnavailable')) delete rolling(next)?.['maxUnavailable'];
}

const ENDLESS_HISTORY =
  'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended';

/** Used for the object and for /scale. */
const setUpdate: UpdateStrategy = {
  prepareForUpdate(next, old) {
    copyField(next, old, 'status');
    dropUnavailable(next, old);
  },
  validateUpdate: (next, old) => [
    ...validateSpec(specOf(next), { stored: true }),
    ...changeErrors(next, old),
  ],
  warnings(next, old) {
    const changed = !old || next.metadata.generation !== old.metadata.generation;
    const endless = (number(specOf(next), 'revisionHistoryLimit') ?? 0) < 0;
    return [...(changed ? templateWarnings(next) : []), ...(endless ? [ENDLESS_HISTORY] : [])];
  },
};

export const statefulSetStrategy: Strategy = {
  ...setUpdate,
  nameRule: labelName,
  generation: true,
  applyDefaults: defaultSet,
  prepareForCreate(set) {
    set['status'] = { replicas: 0, availableReplicas: 0 };
    dropUnavailable(set, undefined);
  },
  validate: (set) => validateSpec(specOf(set), { stored: false }),
  subresources: {
    scale: setUpdate,
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validatesMeta: true,
      validateUpdate: (next, old) => [
        ...countErrors(statusOf(next), COUNTS, BOUNDED),
        ...availableErrors(statusOf(next), 'status.readyReplicas'),
        ...metaUpdate(next, old),
        ...collisionErrors(next, old),
      ],
    },
  },
};
