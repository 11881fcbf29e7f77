// Validation of the volumes of a Pod: a unique name and exactly one source each.

import { duplicate, type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { dnsLabel } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { nanos } from '../quantities.ts';
import { validateClaimTemplate } from '../storage/claimSpec.ts';
import { driverName } from '../storage/driverName.ts';
import { child, number, objects, text, value } from '../values.ts';
import { validateFieldRef, validateResourceRef } from './env.ts';
import type { Volumes } from './mounts.ts';
import { descendingPath, fileMode, localPath } from './paths.ts';
import { validatePullPolicy } from './pullPolicy.ts';
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
  isLongPortal,
  longPortal,
  needs,
  nfs,
  quobyte,
  type SourceEntry,
  type SourceRule,
  storageOs,
} from './sources.ts';

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

type PodSourceRule = (source: JsonObject, path: string, isPod: boolean) => FieldError[];

const keyFiles =
  (name: string): SourceRule =>
  (source, path) => [
    ...needs(name)(source, path),
    ...fileMode(number(source, 'defaultMode'), `${path}.defaultMode`),
    ...objects(source, 'items').flatMap((item, i) => validateKeyPath(item, `${path}.items[${i}]`)),
  ];

function validateKeyPath(item: JsonObject, path: string): FieldError[] {
  return [
    ...needs('key', 'path')(item, path),
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
  const errors = [...needs('path')(file, path), ...localPath(text(file, 'path'), `${path}.path`)];
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

/** kube-apiserver omits the index of the file from the path. */
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
      errors.push(...needs('name')(part, `${at}.${kind}`));
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

const validateCsi: SourceRule = (source, path) => [
  ...driverName(text(source, 'driver'), `${path}.driver`),
  ...(child(source, 'nodePublishSecretRef')
    ? needs('name')(child(source, 'nodePublishSecretRef')!, `${path}.nodePublishSecretRef`)
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

const validateImage: PodSourceRule = (source, path, isPod) => [
  ...(isPod ? needs('reference')(source, path) : []),
  ...validatePullPolicy(text(source, 'pullPolicy'), `${path}.pullPolicy`),
];

/** In the order of Kubernetes. */
const SOURCES: readonly SourceEntry<PodSourceRule>[] = [
  ['emptyDir', validateEmptyDir],
  ['hostPath', hostPath],
  [
    'gitRepo',
    (source, path) => [
      ...needs('repository')(source, path),
      ...descendingPath(text(source, 'directory'), `${path}.directory`),
    ],
  ],
  ['gcePersistentDisk', cloudDisk('pdName'), GCE],
  ['awsElasticBlockStore', cloudDisk('volumeID')],
  ['secret', keyFiles('secretName')],
  ['nfs', nfs],
  ['iscsi', iscsi(false)],
  ['glusterfs', needs('endpoints', 'path')],
  ['flocker', flocker],
  ['persistentVolumeClaim', needs('claimName')],
  ['rbd', needs('monitors', 'image')],
  ['cinder', cinder(false)],
  ['cephfs', needs('monitors'), CEPH],
  ['quobyte', quobyte],
  ['downwardAPI', validateDownward, { second: 'downwarAPI' }],
  ['fc', fc],
  ['flexVolume', flexVolume],
  ['configMap', keyFiles('name')],
  ['azureFile', needs('secretName', 'shareName')],
  ['vsphereVolume', needs('volumePath')],
  ['photonPersistentDisk', needs('pdID')],
  ['portworxVolume', needs('volumeID')],
  ['azureDisk', azureDisk],
  ['storageos', storageOs(false)],
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
  const name = text(volume, 'name');
  for (const [field, validate, paths] of SOURCES) {
    const source = child(volume, field);
    if (!source) continue;
    if (given++ > 0)
      errors.push(forbidden(`${path}.${paths?.second ?? field}`, 'may not specify more than 1 volume type'));
    else {
      errors.push(...validate(source, `${path}.${paths?.inside ?? field}`, podName !== undefined));
      if (field === 'ephemeral' && podName && name !== '')
        errors.push(...claimNameErrors(podName, name, path));
    }
    if (field === 'iscsi' && isLongPortal(source, name)) errors.push(longPortal(`${path}.name`, name));
  }
  return given === 0 ? [required(path, 'must specify a volume type')] : errors;
}

/** An ephemeral volume becomes a claim with this name. */
const claimNameErrors = (podName: string, volume: string, path: string): FieldError[] =>
  subdomainName(`${podName}-${volume}`).map((complaint) =>
    invalid(`${path}.name`, volume, `PVC name "${podName}-${volume}": ${complaint}`),
  );
