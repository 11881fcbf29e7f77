// Volumes of a pod: a unique name and exactly one source each. Sources of plugins that left Kubernetes are only checked
// for the fields they cannot do without.

import { duplicate, type FieldError, forbidden, invalid, required } from '#api/fieldErrors';
import type { JsonObject } from '#api/json';
import { check, dnsLabel, oneOf } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { nanos } from '../quantities.ts';
import { validateClaimTemplate } from '../storage/claimSpec.ts';
import { driverName } from '../storage/driverName.ts';
import { child, has, list, number, objects, text, value } from '../values.ts';
import { validateFieldRef, validateResourceRef } from './env.ts';
import type { Volumes } from './mounts.ts';
import { descendingPath, fileMode, localPath, noBacksteps } from './paths.ts';
import { validatePullPolicy } from './pullPolicy.ts';

export interface PodFacts {
  /** The name of the pod; absent in templates. */
  readonly podName: string | undefined;
}

export function validateVolumes(
  spec: JsonObject,
  path: string,
  { podName }: PodFacts,
): { volumes: Volumes; errors: FieldError[] } {
  const all = objects(spec, 'volumes');
  const volumes = new Map<string, JsonObject>();
  const errors: FieldError[] = [];
  const made = podName
    ? all.filter((v) => child(v, 'ephemeral')).map((v) => `${podName}-${text(v, 'name')}`)
    : [];
  all.forEach((volume, i) => {
    const at = `${path}[${i}]`;
    const name = text(volume, 'name');
    const own = [...validateSource(volume, at, podName)];
    own.push(...(name === '' ? [required(`${at}.name`)] : dnsLabel(name, `${at}.name`)));
    if (volumes.has(name)) own.push(duplicate(`${at}.name`, name));
    if (own.length === 0) volumes.set(name, volume);
    errors.push(...own);
    const claim = text(child(volume, 'persistentVolumeClaim'), 'claimName');
    if (made.includes(claim)) {
      const why = 'must not reference a PVC that gets created for an ephemeral volume';
      errors.push(invalid(`${at}.persistentVolumeClaim.claimName`, claim, why));
    }
  });
  return { volumes, errors };
}

type SourceRule = (source: JsonObject, path: string, isPod: boolean) => FieldError[];

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

const validateHostPath: SourceRule = (source, path) => [
  ...needs('path')(source, path, true),
  ...noBacksteps(text(source, 'path'), `${path}.path`),
  ...(has(source, 'type') ? oneOf(text(source, 'type'), HOST_PATH_TYPES, `${path}.type`) : []),
];

const keyFiles =
  (name: string): SourceRule =>
  (source, path) => [
    ...needs(name)(source, path, true),
    ...fileMode(number(source, 'defaultMode'), `${path}.defaultMode`),
    ...objects(source, 'items').flatMap((item, i) => validateKeyPath(item, `${path}.items[${i}]`)),
  ];

function validateKeyPath(item: JsonObject, path: string): FieldError[] {
  return [
    ...needs('key', 'path')(item, path, true),
    ...localPath(text(item, 'path'), `${path}.path`),
    ...fileMode(number(item, 'mode'), `${path}.mode`),
  ];
}

const DOWNWARD_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

function validateDownwardFile(file: JsonObject, path: string): FieldError[] {
  const [fieldRef, resourceRef] = [child(file, 'fieldRef'), child(file, 'resourceFieldRef')];
  const errors = [...needs('path')(file, path, true), ...localPath(text(file, 'path'), `${path}.path`)];
  if (fieldRef) {
    errors.push(...validateFieldRef(fieldRef, DOWNWARD_FIELDS, `${path}.fieldRef`));
    if (resourceRef)
      errors.push(
        invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'),
      );
  } else if (resourceRef) errors.push(...validateResourceRef(resourceRef, true, `${path}.resourceFieldRef`));
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...fileMode(number(file, 'mode'), `${path}.mode`)];
}

/** The real server leaves the index of the file out of the path. */
const validateDownward: SourceRule = (source, path) => [
  ...fileMode(number(source, 'defaultMode'), `${path}.defaultMode`),
  ...objects(source, 'items').flatMap((file) => validateDownwardFile(file, path)),
];

const PROJECTIONS = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
];

const validateProjected: SourceRule = (source, path) => {
  const errors = fileMode(number(source, 'defaultMode'), `${path}.defaultMode`);
  const taken = new Set<string>();
  const claim = (file: string, shown: string) => {
    if (file !== '' && taken.has(file)) errors.push(invalid(path, shown, 'conflicting duplicate paths'));
    taken.add(file);
  };
  objects(source, 'sources').forEach((projection, i) => {
    const at = `${path}.sources[${i}]`;
    for (const kind of ['secret', 'configMap']) {
      const part = child(projection, kind);
      if (!part) continue;
      errors.push(...needs('name')(part, `${at}.${kind}`, true));
      objects(part, 'items').forEach((item, n) => {
        errors.push(...validateKeyPath(item, `${at}.${kind}.items[${n}]`));
        claim(text(item, 'path'), text(part, 'name'));
      });
    }
    for (const file of objects(child(projection, 'downwardAPI'), 'items')) {
      errors.push(...validateDownwardFile(file, `${at}.downwardAPI`));
      claim(text(file, 'path'), text(file, 'path'));
    }
    const token = child(projection, 'serviceAccountToken');
    if (token) errors.push(...validateToken(token, `${at}.serviceAccountToken`, path));
    if (PROJECTIONS.filter((p) => child(projection, p)).length > 1)
      errors.push(forbidden(at, 'may not specify more than 1 volume type per source'));
  });
  return errors;
};

function validateToken(token: JsonObject, at: string, path: string): FieldError[] {
  const seconds = number(token, 'expirationSeconds') ?? 0;
  const file = text(token, 'path');
  const refuse = (why: string) => [invalid(`${at}.expirationSeconds`, seconds, why)];
  return [
    ...(seconds < 600 ? refuse('may not specify a duration less than 10 minutes') : []),
    ...(seconds > 2 ** 32 ? refuse('may not specify a duration larger than 2^32 seconds') : []),
    ...(file === '' ? [required(`${path}.path`)] : localPath(file, `${path}.path`)),
  ];
}

const validateNfs: SourceRule = (source, path) => [
  ...needs('server', 'path')(source, path, true),
  ...(text(source, 'path').startsWith('/')
    ? []
    : [invalid(`${path}.path`, text(source, 'path'), 'must be an absolute path')]),
];

const validateCsi: SourceRule = (source, path) => [
  ...driverName(text(source, 'driver'), `${path}.driver`),
  ...(child(source, 'nodePublishSecretRef')
    ? needs('name')(child(source, 'nodePublishSecretRef')!, `${path}.nodePublishSecretRef`, true)
    : []),
];

const validateEmptyDir: SourceRule = (source, path) =>
  nanos(value(source, 'sizeLimit')) < 0n
    ? [forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
    : [];

const validateEphemeral: SourceRule = (source, path) => {
  const template = child(source, 'volumeClaimTemplate');
  return template
    ? validateClaimTemplate(template, `${path}.volumeClaimTemplate`)
    : [required(`${path}.volumeClaimTemplate`)];
};

const validateImage: SourceRule = (source, path, isPod) => [
  ...(isPod ? needs('reference')(source, path, isPod) : []),
  ...validatePullPolicy(text(source, 'pullPolicy'), `${path}.pullPolicy`),
];

/** In the order Kubernetes looks at them. */
const SOURCES: readonly (readonly [string, SourceRule])[] = [
  ['emptyDir', validateEmptyDir],
  ['hostPath', validateHostPath],
  [
    'gitRepo',
    (source, path) => [
      ...needs('repository')(source, path, true),
      ...descendingPath(text(source, 'directory'), `${path}.directory`),
    ],
  ],
  ['gcePersistentDisk', needs('pdName')],
  ['awsElasticBlockStore', needs('volumeID')],
  ['secret', keyFiles('secretName')],
  ['nfs', validateNfs],
  ['iscsi', needs('targetPortal', 'iqn')],
  ['glusterfs', needs('endpoints', 'path')],
  ['flocker', () => []],
  ['persistentVolumeClaim', needs('claimName')],
  ['rbd', needs('monitors', 'image')],
  ['cinder', needs('volumeID')],
  ['cephfs', needs('monitors')],
  ['quobyte', needs('registry', 'volume')],
  ['downwardAPI', validateDownward],
  ['fc', () => []],
  ['flexVolume', needs('driver')],
  ['configMap', keyFiles('name')],
  ['azureFile', needs('secretName', 'shareName')],
  ['vsphereVolume', needs('volumePath')],
  ['photonPersistentDisk', needs('pdID')],
  ['portworxVolume', needs('volumeID')],
  ['azureDisk', needs('diskName', 'diskURI')],
  ['storageos', needs('volumeName')],
  ['projected', validateProjected],
  ['scaleIO', needs('gateway', 'system', 'volumeName')],
  ['csi', validateCsi],
  ['ephemeral', validateEphemeral],
  ['image', validateImage],
];

export const VOLUME_SOURCES = SOURCES.map(([name]) => name);

function validateSource(volume: JsonObject, path: string, podName: string | undefined): FieldError[] {
  const errors: FieldError[] = [];
  let given = 0;
  for (const [name, validate] of SOURCES) {
    const source = child(volume, name);
    if (!source) continue;
    if (given++ > 0) errors.push(forbidden(`${path}.${name}`, 'may not specify more than 1 volume type'));
    else errors.push(...validate(source, `${path}.${name}`, podName !== undefined));
  }
  if (given === 0) errors.push(required(path, 'must specify a volume type'));
  const name = text(volume, 'name');
  if (podName && name !== '' && child(volume, 'ephemeral')) {
    const claim = `${podName}-${name}`;
    for (const { message } of check(subdomainName, claim, ''))
      errors.push(
        invalid(`${path}.name`, name, `PVC name "${claim}": ${message.replace(/^[^:]*: "[^"]*": /, '')}`),
      );
  }
  return errors;
}
