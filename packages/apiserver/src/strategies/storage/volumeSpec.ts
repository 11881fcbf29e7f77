// Validation of the spec of a PersistentVolume, also inline in a VolumeAttachment.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { dnsLabel, dnsSubdomain, NOT_POSITIVE, oneOf } from '../checks.ts';
import { validateNodeSelector } from '../nodeSelector.ts';
import { noBacksteps } from '../pod/paths.ts';
import {
  azureDisk,
  CEPH,
  cinder,
  cloudDisk,
  fc,
  flexVolume,
  flocker,
  GCE,
  hostPath,
  iscsi,
  needs,
  nfs,
  quobyte,
  type SourceEntry,
  type SourceRule,
  storageOs,
} from '../pod/sources.ts';
import { basicQuantity, nanos } from '../quantities.ts';
import { child, entries, has, part, text, texts, value } from '../values.ts';
import { className, VOLUME_MODES, validateAccessModes } from './claimSpec.ts';
import { driverName } from './driverName.ts';

const SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

const validateCsi: SourceRule = (source, path) => [
  ...driverName(text(source, 'driver'), `${path}.driver`),
  ...needs('volumeHandle')(source, path),
  ...SECRETS.flatMap((name) => {
    const ref = child(source, name);
    if (!ref) return [];
    const [secret, namespace] = [text(ref, 'name'), text(ref, 'namespace')];
    const at = `${path}.${name}`;
    return [
      ...(secret === '' ? [required(`${at}.name`)] : dnsSubdomain(secret, `${at}.name`)),
      ...(namespace === '' ? [required(`${at}.namespace`)] : dnsLabel(namespace, `${at}.namespace`)),
    ];
  }),
];

const validateLocal: SourceRule = (source, path) => [
  ...needs('path')(source, path),
  ...noBacksteps(text(source, 'path'), `${path}.path`),
];

const validateGluster: SourceRule = (source, path) => {
  const [at, namespace] = [`${path}.endpointsNamespace`, text(source, 'endpointsNamespace')];
  const why = 'if the endpointnamespace is set, it must be a valid namespace name';
  const errors = needs('endpoints', 'path')(source, path);
  if (!has(source, 'endpointsNamespace')) return errors;
  return [...errors, ...(namespace === '' ? [invalid(at, '', why)] : dnsLabel(namespace, at))];
};

const validateAzureFile: SourceRule = (source, path) => [
  ...needs('secretName', 'shareName')(source, path),
  ...(has(source, 'secretNamespace') ? needs('secretNamespace')(source, path) : []),
];

/** In the order of Kubernetes. */
const SOURCES: readonly SourceEntry[] = [
  ['hostPath', hostPath],
  ['gcePersistentDisk', cloudDisk('pdName'), GCE],
  ['awsElasticBlockStore', cloudDisk('volumeID')],
  ['glusterfs', validateGluster],
  ['flocker', flocker],
  ['nfs', nfs],
  ['rbd', needs('monitors', 'image')],
  ['quobyte', quobyte],
  ['cephfs', needs('monitors'), CEPH],
  ['iscsi', iscsi(true)],
  ['cinder', cinder(true)],
  ['fc', fc],
  ['flexVolume', flexVolume],
  ['azureFile', validateAzureFile],
  ['vsphereVolume', needs('volumePath')],
  ['photonPersistentDisk', needs('pdID')],
  ['portworxVolume', needs('volumeID')],
  ['azureDisk', azureDisk],
  ['scaleIO', needs('gateway', 'system', 'volumeName')],
  ['local', validateLocal],
  ['storageos', storageOs(true)],
  ['csi', validateCsi],
];

export const PERSISTENT_SOURCES = SOURCES.map(([name]) => name);

const RECLAIM = ['Delete', 'Recycle', 'Retain'];

export function validateVolumeSpec(spec: JsonObject, path: string, inline = false): FieldError[] {
  const modes = texts(spec, 'accessModes');
  const policy = text(spec, 'persistentVolumeReclaimPolicy');
  const mode = text(spec, 'volumeMode');
  const affinity = child(spec, 'nodeAffinity');
  return [
    ...(inline ? inlineErrors(spec, path) : []),
    ...(modes.length === 0 ? [required(`${path}.accessModes`)] : []),
    ...validateAccessModes(modes, `${path}.accessModes`),
    ...(inline ? [] : capacityErrors(child(spec, 'capacity'), `${path}.capacity`)),
    ...(policy === '' || inline ? [] : oneOf(policy, RECLAIM, `${path}.persistentVolumeReclaimPolicy`)),
    ...(affinity && !inline ? affinityErrors(affinity, `${path}.nodeAffinity`) : []),
    ...sourceErrors(spec, path),
    ...recycleErrors(spec, `${path}.persistentVolumeReclaimPolicy`),
    ...(inline ? [] : className(text(spec, 'storageClassName'), `${path}.storageClassName`)),
    ...(!has(spec, 'volumeMode') || inline ? [] : oneOf(mode, VOLUME_MODES, `${path}.volumeMode`)),
    ...(inline ? [] : attributesErrors(spec, path)),
  ];
}

function inlineErrors(spec: JsonObject, path: string): FieldError[] {
  const context = 'in the context of inline volumes';
  const named = ['claimRef', 'capacity', 'nodeAffinity', 'storageClassName'].filter((f) => has(spec, f));
  const other = (field: string, only: string) => has(spec, field) && text(spec, field) !== only;
  return [
    ...named.map((f) => forbidden(`${path}.${f}`, `may not be specified ${context}`)),
    ...(child(spec, 'csi') ? [] : [required(`${path}.csi`, `has to be specified ${context}`)]),
    ...(other('persistentVolumeReclaimPolicy', 'Retain')
      ? [forbidden(`${path}.persistentVolumeReclaimPolicy`, `may only be Retain ${context}`)]
      : []),
    ...(other('volumeMode', 'Filesystem')
      ? [forbidden(`${path}.volumeMode`, `may not specify volumeMode other than Filesystem ${context}`)]
      : []),
  ];
}

function capacityErrors(capacity: JsonObject | undefined, path: string): FieldError[] {
  const amounts = entries(capacity);
  const errors: FieldError[] = [];
  if (amounts.length === 0) errors.push(required(path));
  if (!has(capacity, 'storage') || amounts.length > 1)
    errors.push(notSupported(path, capacity ?? null, ['storage']));
  for (const [name, amount] of amounts) {
    errors.push(...basicQuantity(amount, `${path}[${name}]`));
    if (nanos(amount) <= 0n) errors.push(invalid(`${path}[${name}]`, amount, NOT_POSITIVE));
  }
  return errors;
}

function affinityErrors(affinity: JsonObject, path: string): FieldError[] {
  const selector = child(affinity, 'required');
  return selector
    ? validateNodeSelector(selector, `${path}.required`)
    : [required(`${path}.required`, 'must specify required node constraints')];
}

function sourceErrors(spec: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let given = 0;
  for (const [field, validate, paths] of SOURCES) {
    const source = child(spec, field);
    if (!source) continue;
    // kube-apiserver accepts a flexVolume next to another source.
    if (given++ > 0 && field !== 'flexVolume') {
      const why = 'may not specify more than 1 volume type';
      errors.push(forbidden(`${path}.${paths?.second ?? field}`, why));
      continue;
    }
    errors.push(...validate(source, `${path}.${paths?.inside ?? field}`));
    if (field === 'local' && !child(part(spec, 'nodeAffinity'), 'required'))
      errors.push(required(`${path}.nodeAffinity`, 'Local volume requires node affinity'));
  }
  return given === 0 ? [required(path, 'must specify a volume type')] : errors;
}

function recycleErrors(spec: JsonObject, path: string): FieldError[] {
  const root = /^\/+\.?$/.test(text(child(spec, 'hostPath'), 'path'));
  return root && text(spec, 'persistentVolumeReclaimPolicy') === 'Recycle'
    ? [forbidden(path, "may not be 'recycle' for a hostPath mount of '/'")]
    : [];
}

function attributesErrors(spec: JsonObject, path: string): FieldError[] {
  if (!has(spec, 'volumeAttributesClassName')) return [];
  const name = text(spec, 'volumeAttributesClassName');
  const at = `${path}.volumeAttributesClassName`;
  return [
    ...(name === '' ? [required(at, 'an empty string is disallowed')] : className(name, at)),
    ...(value(spec, 'csi') === undefined
      ? [required(`${path}.csi`, 'has to be specified when using volumeAttributesClassName')]
      : []),
  ];
}
