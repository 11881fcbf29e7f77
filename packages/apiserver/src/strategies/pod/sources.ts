// Validation of volume sources that Pods and PersistentVolumes share. Most belong to plugins that were removed from
// Kubernetes, but the API still validates them. A source in a PersistentVolume names the namespace of its secret.

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { dnsLabel, inRange, oneOf } from '../checks.ts';
import { child, entries, flag, has, list, number, part, text, texts } from '../values.ts';
import { noBacksteps } from './paths.ts';

export type SourceRule = (source: JsonObject, path: string) => FieldError[];

export const needs =
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

export const hostPath: SourceRule = (source, path) =>
  text(source, 'path') === ''
    ? [required(`${path}.path`)]
    : [
        ...noBacksteps(text(source, 'path'), `${path}.path`),
        ...(has(source, 'type') ? oneOf(text(source, 'type'), HOST_PATH_TYPES, `${path}.type`) : []),
      ];

export const nfs: SourceRule = (source, path) => [
  ...needs('server', 'path')(source, path),
  ...(text(source, 'path').startsWith('/')
    ? []
    : [invalid(`${path}.path`, text(source, 'path'), 'must be an absolute path')]),
];

const partition = (source: JsonObject, path: string): FieldError[] => {
  const n = number(source, 'partition') ?? 0;
  return n < 0 || n > 255 ? [invalid(`${path}.partition`, n, inRange(1, 255))] : [];
};

export const cloudDisk =
  (name: string): SourceRule =>
  (source, path) => [...needs(name)(source, path), ...partition(source, path)];

const lunErrors = (lun: number, path: string): FieldError[] =>
  lun < 0 || lun > 255 ? [invalid(`${path}.lun`, lun, inRange(0, 255))] : [];

export const fc: SourceRule = (source, path) => {
  const [names, ids] = [texts(source, 'targetWWNs'), texts(source, 'wwids')];
  const at = `${path}.targetWWNs`;
  const errors: FieldError[] = [];
  if (names.length + ids.length === 0)
    errors.push(required(at, 'must specify either targetWWNs or wwids, but not both'));
  if (names.length > 0 && ids.length > 0)
    errors.push(invalid(at, names, 'targetWWNs and wwids can not be specified simultaneously'));
  if (names.length === 0) return errors;
  const lun = number(source, 'lun');
  return [
    ...errors,
    ...(lun === undefined
      ? [required(`${path}.lun`, 'lun is required if targetWWNs is specified')]
      : lunErrors(lun, path)),
  ];
};

const INITIATORS: readonly (readonly [string, RegExp])[] = [
  ['iqn', /^iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[a-zA-Z0-9]{16}$/],
  ['naa', /^naa.[a-zA-Z0-9]{32}$/],
];

function initiatorErrors(name: string, path: string, unknown: string): FieldError[] {
  const form = INITIATORS.find(([prefix]) => name.startsWith(prefix));
  if (!form) return [invalid(path, name, unknown)];
  return form[1].test(name) ? [] : [invalid(path, name, 'must be valid format')];
}

const SHORT =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

/** Whether the name of the volume and the portal are too long together. */
export const isLongPortal = (source: JsonObject, volume: string): boolean =>
  has(source, 'initiatorName') && `${volume}:${text(source, 'targetPortal')}`.length > 64;

export const longPortal = (path: string, shown: string): FieldError => invalid(path, shown, SHORT);

/** `persistent`: in a PersistentVolume, where errors have less detail. */
export const iscsi =
  (persistent: boolean): SourceRule =>
  (source, path) => {
    const [iqn, secret] = [text(source, 'iqn'), child(source, 'secretRef')];
    const unknown = persistent
      ? 'must be valid format'
      : 'must be valid format starting with iqn, eui, or naa';
    const guarded = flag(source, 'chapAuthDiscovery') === true || flag(source, 'chapAuthSession') === true;
    return [
      ...needs('targetPortal')(source, path),
      ...(iqn === '' ? [required(`${path}.iqn`)] : initiatorErrors(iqn, `${path}.iqn`, unknown)),
      ...lunErrors(number(source, 'lun') ?? 0, path),
      ...(guarded && !secret ? [required(`${path}.secretRef`)] : []),
      ...(persistent && secret ? needs('name')(secret, `${path}.secretRef`) : []),
      ...(has(source, 'initiatorName')
        ? initiatorErrors(text(source, 'initiatorName'), `${path}.initiatorname`, unknown)
        : []),
    ];
  };

export const flocker: SourceRule = (source, path) => {
  const [name, uuid] = [text(source, 'datasetName'), text(source, 'datasetUUID')];
  const errors: FieldError[] = [];
  if (name === '' && uuid === '')
    errors.push(required(path, 'one of datasetName and datasetUUID is required'));
  if (name !== '' && uuid !== '')
    errors.push(invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously'));
  if (name.includes('/')) errors.push(invalid(`${path}.datasetName`, name, "must not contain '/'"));
  return errors;
};

const PAIRS = 'must be a host:port pair or multiple pairs separated by commas';
const PAIR = /^(?:[^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/;

export const quobyte: SourceRule = (source, path) => [
  ...registryErrors(text(source, 'registry'), text(source, 'tenant'), path),
  ...needs('volume')(source, path),
];

function registryErrors(registry: string, tenant: string, path: string): FieldError[] {
  if (registry === '') return [required(`${path}.registry`, PAIRS)];
  if (tenant.length > 64)
    return [required(`${path}.tenant`, 'must be a UUID and may not exceed a length of 64 characters')];
  const odd = registry.split(',').filter((pair) => !PAIR.test(pair));
  return odd.map(() => invalid(`${path}.registry`, registry, PAIRS));
}

/** One of several sources: the field, its rule, and the path in errors where it differs from the field. */
export type SourceEntry<Rule = SourceRule> = readonly [
  string,
  Rule,
  { readonly inside?: string; readonly second?: string }?,
];

export const GCE = { inside: 'persistentDisk' };
export const CEPH = { second: 'cephFS' };

/** The name of a secret, and in PersistentVolumes its namespace. */
const secretRef = (source: JsonObject, persistent: boolean, path: string): FieldError[] => {
  const secret = child(source, 'secretRef');
  return secret ? needs(...(persistent ? ['name', 'namespace'] : ['name']))(secret, `${path}.secretRef`) : [];
};

export const cinder =
  (persistent: boolean): SourceRule =>
  (source, path) => [...needs('volumeID')(source, path), ...secretRef(source, persistent, path)];

export const storageOs =
  (persistent: boolean): SourceRule =>
  (source, path) => {
    const [name, namespace] = [text(source, 'volumeName'), text(source, 'volumeNamespace')];
    return [
      ...(name === '' ? [required(`${path}.volumeName`)] : dnsLabel(name, `${path}.volumeName`)),
      ...(namespace === '' ? [] : dnsLabel(namespace, `${path}.volumeNamespace`)),
      ...secretRef(source, persistent, path),
    ];
  };

export const flexVolume: SourceRule = (source, path) => [
  ...needs('driver')(source, path),
  ...entries(part(source, 'options')).flatMap(([key]) =>
    /\.(kubernetes|k8s)\.io$/.test(`.${key.split('/')[0]!.toLowerCase()}`)
      ? [invalid(`${path}.options[${key}]`, key, 'kubernetes.io and k8s.io namespaces are reserved')]
      : [],
  ),
];

const MANAGED =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export const azureDisk: SourceRule = (source, path) => {
  const [kind, uri] = [text(source, 'kind'), text(source, 'diskURI')];
  const choice = (field: string, values: string[]) =>
    has(source, field) ? oneOf(text(source, field), values, `${path}.${field}`) : [];
  const form = kind === 'Managed' ? MANAGED : BLOB;
  const fits = uri.startsWith(kind === 'Managed' ? '/subscriptions/' : 'https://');
  return [
    ...needs('diskName', 'diskURI')(source, path),
    ...choice('cachingMode', ['None', 'ReadOnly', 'ReadWrite']),
    ...choice('kind', ['Dedicated', 'Managed', 'Shared']),
    ...(has(source, 'kind') && !fits ? oneOf(uri, [form], `${path}.diskURI`) : []),
  ];
};
