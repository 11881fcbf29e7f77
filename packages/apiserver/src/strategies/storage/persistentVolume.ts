// Strategy of PersistentVolume: has a protection finalizer, an immutable source, and a timestamp for its phase.

import { formatTime } from '@lapse/base/instant';
import { type FieldError, forbidden } from '@lapse/kube/api/fieldErrors';
import { clone, equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { IMMUTABLE, immutable, metaOf } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { isLongPortal, longPortal } from '../pod/sources.ts';
import { unifiedDiff } from '../unifiedDiff.ts';
import { assign, child, copyField, defaultTo, ensure, has, objects, part, text, value } from '../values.ts';
import { PERSISTENT_SOURCES, validateVolumeSpec } from './volumeSpec.ts';

const PROTECTION = 'kubernetes.io/pv-protection';

/** Adds the protection finalizer on create, like the admission plugin. */
export function protect({ metadata }: KubeObject, old: KubeObject | undefined, finalizer: string): void {
  if (old || metadata.finalizers?.includes(finalizer)) return;
  metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
}

const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options';
const MOUNTABLE = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
];

function validate(volume: KubeObject): FieldError[] {
  const spec = specOf(volume);
  const options = volume.metadata.annotations?.[MOUNT_OPTIONS] !== undefined;
  const path = `metadata.annotations.${MOUNT_OPTIONS}`;
  return [
    ...validateVolumeSpec(spec, 'spec'),
    ...portalErrors(volume),
    ...(options && !MOUNTABLE.some((s) => child(spec, s))
      ? [forbidden(path, 'may not specify mount options for this volume type')]
      : []),
  ];
}

function portalErrors(volume: KubeObject): FieldError[] {
  const iscsi = child(specOf(volume), 'iscsi');
  return iscsi && isLongPortal(iscsi, volume.metadata.name ?? '')
    ? [longPortal('spec.iscsi.targetportal', text(iscsi, 'targetPortal'))]
    : [];
}

const sourceOf = (spec: JsonObject): JsonObject =>
  Object.fromEntries(PERSISTENT_SOURCES.filter((s) => has(spec, s)).map((s) => [s, spec[s]]));

function validateChange(next: KubeObject, old: KubeObject): FieldError[] {
  const [spec, before] = [specOf(next), specOf(old)];
  const [now, then] = [clone(sourceOf(spec)), sourceOf(before)];
  const secret = 'controllerExpandSecretRef';
  // The only secret that may be added later.
  if (child(then, 'csi') && !has(part(then, 'csi'), secret)) delete child(now, 'csi')?.[secret];
  const errors: FieldError[] = [];
  if (!equal(now, then)) {
    const diff = unifiedDiff(JSON.stringify(then, undefined, 1), JSON.stringify(now, undefined, 1));
    const text = `spec.persistentvolumesource is immutable after creation\n${diff}`;
    errors.push(forbidden('spec.persistentvolumesource', text));
  }
  errors.push(...immutable(value(spec, 'volumeMode'), value(before, 'volumeMode'), 'volumeMode'));
  if (child(before, 'nodeAffinity')) errors.push(...affinityErrors(spec, before));
  if (has(before, 'volumeAttributesClassName') && !has(spec, 'volumeAttributesClassName'))
    errors.push(forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden'));
  return errors;
}

const GA_LABELS: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/** The affinity is immutable, except that deprecated label names may be replaced by the new ones. */
function affinityErrors(spec: JsonObject, before: JsonObject): FieldError[] {
  const [now, then] = [clone(child(spec, 'nodeAffinity')), clone(child(before, 'nodeAffinity'))];
  const expressions = (affinity: JsonObject | undefined) =>
    objects(child(affinity, 'required'), 'nodeSelectorTerms').flatMap((t) => objects(t, 'matchExpressions'));
  const current = expressions(now);
  expressions(then).forEach((expression, i) => {
    const renamed = GA_LABELS[text(expression, 'key')];
    if (renamed && renamed === text(current[i], 'key')) expression['key'] = renamed;
  });
  return immutable(now, then, 'nodeAffinity').map((e) => ({
    ...e,
    message: e.message.replace(IMMUTABLE, `${IMMUTABLE}, except for updating from beta label to GA`),
  }));
}

const OLD_ANNOTATIONS: Readonly<Record<string, string>> = {
  'volume.beta.kubernetes.io/storage-class':
    'deprecated since v1.8; use "storageClassName" attribute instead',
  [MOUNT_OPTIONS]: 'deprecated since v1.31; use "mountOptions" attribute instead',
};
const OLD_SOURCES: readonly (readonly [string, string, string])[] = [
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function warnings(volume: KubeObject): string[] {
  const spec = specOf(volume);
  const annotations = Object.keys(OLD_ANNOTATIONS).filter(
    (k) => volume.metadata.annotations?.[k] !== undefined,
  );
  const recycle =
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
  return [
    ...annotations.map((k) => `metadata.annotations[${k}]: ${OLD_ANNOTATIONS[k]}`),
    ...(text(spec, 'persistentVolumeReclaimPolicy') === 'Recycle' ? [recycle] : []),
    ...OLD_SOURCES.filter(([s]) => child(spec, s)).map(([, shown, why]) => `spec.${shown}: ${why}`),
  ];
}

export const persistentVolumeStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  applyDefaults(volume) {
    const spec = ensure(volume, 'spec');
    defaultTo(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    defaultTo(spec, 'volumeMode', 'Filesystem');
  },
  admit: (volume, old) => protect(volume, old, PROTECTION),
  prepareForCreate(volume, { now }) {
    volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: formatTime(now) };
  },
  validate,
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, false, subdomainName),
    ...validate(next),
    ...metaOf(next, false, subdomainName),
    ...validateVolumeSpec(specOf(next), 'spec'),
    ...portalErrors(next),
    ...validateChange(next, old),
  ],
  warnings,
  subresources: {
    status: {
      prepareForUpdate(next, old, { now }) {
        copyField(next, old, 'spec');
        const [status, before] = [ensure(next, 'status'), statusOf(old)];
        const [stamp, was] = [
          text(status, 'lastPhaseTransitionTime'),
          text(before, 'lastPhaseTransitionTime'),
        ];
        const moved = text(status, 'phase') !== text(before, 'phase');
        if (moved && (stamp === '' || stamp === was))
          assign(status, 'lastPhaseTransitionTime', formatTime(now));
        else if (!moved && stamp === '') copyField(status, before, 'lastPhaseTransitionTime');
      },
    },
  },
};
