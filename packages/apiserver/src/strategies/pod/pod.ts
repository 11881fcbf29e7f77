// Strategy of Pod: defaults and admission on create, few mutable fields, and graceful deletion.

import { type FieldError, forbidden } from '@lapse/kube/api/fieldErrors';
import { clone, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf, type UpdateStrategy } from '../../resources/resource.ts';
import { metaOf, metaUpdate } from '../checks.ts';
import { labelName, subdomainName } from '../names.ts';
import { approveOverhead } from '../node/runtimeClass.ts';
import { keepMeta } from '../statusMeta.ts';
import { child, copyField, ensure, list, number, objects, text } from '../values.ts';
import { admitPod } from './admission.ts';
import { validateAnnotationChange, validatePodAnnotations } from './annotations.ts';
import { setPodCondition } from './conditions.ts';
import { paddedImage } from './containers.ts';
import { defaultPod, qosClass } from './defaults.ts';
import { validatePodResize } from './resize.ts';
import { validatePodSpec } from './spec.ts';
import { podStatusStrategy } from './status.ts';
import { validatePodChange } from './update.ts';
import { podWarnings } from './warnings.ts';

const metaJson = (pod: KubeObject) => pod.metadata as unknown as JsonObject;

/** Validates everything except metadata, on create and update. */
function validateSpec(pod: KubeObject): FieldError[] {
  const spec = specOf(pod);
  return [
    ...validatePodAnnotations(metaJson(pod), spec, 'metadata.annotations'),
    ...validatePodSpec(spec, pod.metadata.name ?? '', 'spec'),
    ...tokenErrors(spec),
    ...paddedImages(spec, 'containers'),
    ...paddedImages(spec, 'initContainers'),
  ];
}

function tokenErrors(spec: JsonObject): FieldError[] {
  if (text(spec, 'serviceAccountName') !== '') return [];
  return objects(spec, 'volumes').flatMap((volume, v) =>
    objects(child(volume, 'projected'), 'sources').flatMap((source, s) => {
      const path = `spec.volumes[${v}].projected.sources[${s}].serviceAccountToken`;
      const why = 'must not be specified when serviceAccountName is not set';
      return child(source, 'serviceAccountToken') ? [forbidden(path, why)] : [];
    }),
  );
}

const paddedImages = (spec: JsonObject, field: string): FieldError[] =>
  objects(spec, field).flatMap((container, i) => paddedImage(container, `spec.${field}[${i}]`));

function validateCreate(pod: KubeObject): FieldError[] {
  const spec = specOf(pod);
  const errors = validateSpec(pod);
  if (objects(spec, 'ephemeralContainers').length > 0)
    errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  if (text(spec, 'nodeName') !== '' && list(spec, 'schedulingGates').length > 0)
    errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  return errors;
}

const validateUpdate = (next: KubeObject, old: KubeObject): FieldError[] => [
  ...metaUpdate(next, old),
  ...metaOf(next, true, subdomainName),
  ...validateSpec(next),
  ...validateAnnotationChange(next, old),
  ...validatePodChange(next, old),
];

/** A write through a subresource changes only its part of the spec. */
function keepAllBut(next: KubeObject, old: KubeObject, spec: JsonObject): void {
  next['spec'] = spec;
  copyField(next, old, 'status');
  keepMeta(next, old);
}

const ephemeralStrategy: UpdateStrategy = {
  prepareForUpdate(next, old) {
    const spec = clone(specOf(old));
    copyField(spec, specOf(next), 'ephemeralContainers');
    keepAllBut(next, old, spec);
  },
  validatesMeta: true,
  validateUpdate(next, old) {
    const now = objects(specOf(next), 'ephemeralContainers').map((c) => text(c, 'name'));
    const gone = objects(specOf(old), 'ephemeralContainers').filter((c) => !now.includes(text(c, 'name')));
    return [
      ...metaUpdate(next, old),
      ...metaOf(next, true, subdomainName),
      ...validateSpec(next),
      ...gone.map((c) =>
        forbidden(
          'spec.ephemeralContainers',
          `existing ephemeral containers "${text(c, 'name')}" may not be removed\n`,
        ),
      ),
    ];
  },
};

const resizeStrategy: UpdateStrategy = {
  prepareForUpdate(next, old) {
    const spec = clone(specOf(old));
    for (const field of ['containers', 'initContainers']) {
      const wanted = objects(specOf(next), field);
      objects(spec, field).forEach((container, i) => {
        if (text(wanted[i], 'name') !== text(container, 'name')) return;
        copyField(container, wanted[i], 'resources');
        copyField(container, wanted[i], 'resizePolicy');
      });
    }
    keepAllBut(next, old, spec);
  },
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...metaOf(next, true, subdomainName),
    ...validateSpec(next),
    ...validatePodResize(next, old),
  ],
};

/** Zero for Pods without a node and for finished Pods: they are deleted at once. */
function gracePeriod(pod: KubeObject, requested: number | undefined): number {
  const phase = text(statusOf(pod), 'phase');
  if (text(specOf(pod), 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const period = requested ?? number(specOf(pod), 'terminationGracePeriodSeconds') ?? 0;
  return period < 0 ? 1 : period;
}

function warnings(pod: KubeObject, old: KubeObject | undefined): string[] {
  if (old) return [];
  const odd = labelName(pod.metadata.name ?? '');
  const hostname = "this is used in the Pod's hostname, which can result in surprising behavior";
  const named =
    odd.length > 0 ? [`metadata.name: ${hostname}; a DNS label is recommended: [${odd.join(' ')}]`] : [];
  return [...named, ...podWarnings(specOf(pod))];
}

export const podStrategy: Strategy = {
  nameRule: subdomainName,
  generation: true,
  returnDeleted: true,
  applyDefaults: defaultPod,
  admit: admitPod,
  approve: approveOverhead,
  prepareForCreate(pod, { now }) {
    const spec = ensure(pod, 'spec');
    const status: JsonObject = { phase: 'Pending', qosClass: qosClass(spec) };
    pod['status'] = status;
    if (list(spec, 'schedulingGates').length === 0) return;
    const message = 'Scheduling is blocked due to non-empty scheduling gates';
    setPodCondition(
      status,
      { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated', message },
      now,
    );
  },
  validate: validateCreate,
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validatesMeta: true,
  validateUpdate,
  warnings,
  gracePeriod,
  subresources: {
    status: podStatusStrategy,
    ephemeralcontainers: ephemeralStrategy,
    resize: resizeStrategy,
  },
};
