// The spec of a PersistentVolume, also inline in a VolumeAttachment.

import { type FieldError, forbidden, invalid, notSupported, required } from '#api/fieldErrors';
import type { JsonObject } from '#api/json';
import { dnsLabel, dnsSubdomain, NOT_POSITIVE, oneOf } from '../checks.ts';
import { validateNodeSelector } from '../nodeSelector.ts';
import { noBacksteps } from '../pod/paths.ts';
import { basicQuantity, nanos } from '../quantities.ts';
import { child, entries, has, list, part, text, texts, value } from '../values.ts';
import { className, VOLUME_MODES, validateAccessModes } from './claimSpec.ts';
import { driverName } from './driverName.ts';

type SourceRule = (source: JsonObject, path: string) => FieldError[];

const needs =
  (...fields: string[]): SourceRule =>
  (source, path) =>
    fields
      .filter((f) => text(source, f) === '' && list(source, f).length === 0)
      .map((f) => required(`${path}.${f}`));

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
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

const validateHostPath: SourceRule = (source, path) => [
  ...needs('path')(source, path),
  ...noBacksteps(text(source, 'path'), `${path}.path`),
  ...(has(source, 'type') ? oneOf(text(source, 'type'), HOST_PATH_TYPES, `${path}.type`) : []),
];

const validateNfs: SourceRule = (source, path) => [
  ...needs('server', 'path')(source, path),
  ...(text(source, 'path').startsWith('/')
    ? []
    : [invalid(`${path}.path`, text(source, 'path'), 'must be an absolute path')]),
];

const validateLocal: SourceRule = (source, path) =>
  text(source, 'path') === ''
    ? [required(`${path}.path`)]
    : noBacksteps(text(source, 'path'), `${path}.path`);

/** In the order Kubernetes looks at them. */
const SOURCES: readonly (readonly [string, SourceRule])[] = [
  ['hostPath', validateHostPath],
  ['gcePersistentDisk', needs('pdName')],
  ['awsElasticBlockStore', needs('volumeID')],
  ['glusterfs', needs('endpoints', 'path')],
  ['flocker', () => []],
  ['nfs', validateNfs],
  ['rbd', needs('monitors', 'image')],
  ['quobyte', needs('registry', 'volume')],
  ['cephfs', needs('monitors')],
  ['iscsi', needs('targetPortal', 'iqn')],
  ['cinder', needs('volumeID')],
  ['fc', () => []],
  ['flexVolume', needs('driver')],
  ['azureFile', needs('secretName', 'shareName')],
  ['vsphereVolume', needs('volumePath')],
  ['photonPersistentDisk', needs('pdID')],
  ['portworxVolume', needs('volumeID')],
  ['azureDisk', needs('diskName', 'diskURI')],
  ['scaleIO', needs('gateway', 'system', 'volumeName')],
  ['local', validateLocal],
  ['storageos', needs('volumeName')],
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
    ...(inline ? [] : capacityErrors(part(spec, 'capacity'), `${path}.capacity`)),
    ...(policy === '' || inline ? [] : oneOf(policy, RECLAIM, `${path}.persistentVolumeReclaimPolicy`)),
    ...(affinity && !inline ? affinityErrors(affinity, `${path}.nodeAffinity`) : []),
    ...sourceErrors(spec, path),
    ...recycleErrors(spec, `${path}.persistentVolumeReclaimPolicy`),
    ...(inline ? [] : className(text(spec, 'storageClassName'), `${path}.storageClassName`)),
    ...(mode === '' || inline ? [] : oneOf(mode, VOLUME_MODES, `${path}.volumeMode`)),
    ...attributesErrors(spec, path),
  ];
}

function inlineErrors(spec: JsonObject, path: string): FieldError[] {
  const context = 'in the context of inline volumes';
  const named = ['claimRef', 'capacity'].filter((f) => has(spec, f));
  return [
    ...named.map((f) => forbidden(`${path}.${f}`, `may not be specified ${context}`)),
    ...(child(spec, 'csi') ? [] : [required(`${path}.csi`, `has to be specified ${context}`)]),
  ];
}

function capacityErrors(capacity: JsonObject, path: string): FieldError[] {
  const amounts = entries(capacity);
  const errors: FieldError[] = [];
  if (amounts.length === 0) errors.push(required(path));
  if (!Object.hasOwn(capacity, 'storage') || amounts.length > 1)
    errors.push(notSupported(path, amounts.length === 0 ? null : capacity, ['storage']));
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
  for (const [name, validate] of SOURCES) {
    const source = child(spec, name);
    if (!source) continue;
    if (given++ > 0) {
      errors.push(forbidden(`${path}.${name}`, 'may not specify more than 1 volume type'));
      continue;
    }
    errors.push(...validate(source, `${path}.${name}`));
    if (name === 'local' && !child(part(spec, 'nodeAffinity'), 'required'))
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
