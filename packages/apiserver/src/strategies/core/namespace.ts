// Strategy of Namespace: created Active with the `kubernetes` finalizer in its spec and a label with its name. DELETE
// only marks it; it is deleted after PUT on /finalize without finalizers.

import { formatTime } from '@lapse/base/instant';
import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import { checkQualifiedName } from '@lapse/kube/api/names';
import type { KubeObject } from '@lapse/kube/api/object';
import { validateKubeFinalizers } from '../../metadata/validateMeta.ts';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { check, metaOf, metaUpdate } from '../checks.ts';
import { labelName } from '../names.ts';
import { assign, copyField, ensure, text, texts } from '../values.ts';

const OWN_FINALIZER = 'kubernetes';
const NAME_LABEL = 'kubernetes.io/metadata.name';

function labelWithName({ metadata }: KubeObject): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
}

function validate(namespace: KubeObject): FieldError[] {
  return texts(specOf(namespace), 'finalizers').flatMap((f) => finalizerErrors(f, 'spec.finalizers'));
}

function finalizerErrors(finalizer: string, path: string): FieldError[] {
  const kube = validateKubeFinalizers([finalizer], path).map((e) => ({ ...e, field: path }));
  return [...check(checkQualifiedName, finalizer, path), ...kube];
}

function validatePhase(namespace: KubeObject): FieldError[] {
  const phase = text(statusOf(namespace), 'phase');
  const deleted = namespace.metadata.deletionTimestamp !== undefined;
  const wanted = deleted ? 'Terminating' : 'Active';
  if (phase === wanted) return [];
  const detail = `may only be '${wanted}' if \`deletionTimestamp\` is ${deleted ? 'not ' : ''}empty`;
  return [invalid('status.Phase', phase, detail)];
}

export const namespaceStrategy: Strategy = {
  nameRule: labelName,
  returnDeleted: true,
  validatesMeta: true,
  // kube-apiserver adds the label when it decodes the object.
  applyDefaults: labelWithName,
  canonicalize: labelWithName,
  prepareForCreate(namespace) {
    namespace['status'] = { phase: 'Active' };
    const spec = ensure(namespace, 'spec');
    const finalizers = texts(spec, 'finalizers');
    if (!finalizers.includes(OWN_FINALIZER)) spec['finalizers'] = [...finalizers, OWN_FINALIZER];
  },
  validate,
  prepareForUpdate(next, old) {
    copyField(ensure(next, 'spec'), specOf(old), 'finalizers');
    copyField(next, old, 'status');
  },
  validateUpdate: (next, old) => [
    ...metaOf(next, false, labelName),
    ...validate(next),
    ...metaUpdate(next, old),
  ],
  isReleased: (namespace) => texts(specOf(namespace), 'finalizers').length === 0,
  propagates: true,
  markDeleted(namespace, { now }) {
    const { metadata } = namespace;
    if (metadata.deletionTimestamp !== undefined)
      return texts(specOf(namespace), 'finalizers').length === 0 && !metadata.finalizers?.length
        ? 'delete'
        : 'keep';
    metadata.deletionTimestamp = formatTime(now);
    assign(ensure(namespace, 'status'), 'phase', 'Terminating');
    return 'keep';
  },
  subresources: {
    status: {
      prepareForUpdate: (next, old) => copyField(next, old, 'spec'),
      validateUpdate: validatePhase,
      canonicalize: labelWithName,
    },
    finalize: {
      prepareForUpdate: (next, old) => copyField(next, old, 'status'),
      validateUpdate: (next) =>
        texts(specOf(next), 'finalizers').flatMap((f, i) => finalizerErrors(f, `spec.finalizers[${i}]`)),
      canonicalize: labelWithName,
    },
  },
};
