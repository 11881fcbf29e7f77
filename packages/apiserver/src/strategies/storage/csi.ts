// Strategies of CSIDriver, CSINode and VolumeAttachment.

import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Strategy, specOf, statusOf } from '../../resources/resource.ts';
import { check, immutable, inRange, metaOf, nonNegative, oneOf, qualifiedName } from '../checks.ts';
import { subdomainName } from '../names.ts';
import { keepMeta } from '../statusMeta.ts';
import {
  child,
  copyField,
  ensure,
  has,
  list,
  number,
  objects,
  part,
  stringMap,
  text,
  texts,
  value,
} from '../values.ts';
import { driverName } from './driverName.ts';
import { validateVolumeSpec } from './volumeSpec.ts';

const REQUIRED_FLAGS: readonly (readonly [string, string])[] = [
  ['attachRequired', 'attachedRequired'],
  ['podInfoOnMount', 'podInfoOnMount'],
  ['storageCapacity', 'storageCapacity'],
];
const FS_GROUP = ['File', 'None', 'ReadWriteOnceWithFSType'];
const MODES = ['Persistent', 'Ephemeral'];

function validateDriver(driver: KubeObject): FieldError[] {
  const spec = specOf(driver);
  const period = number(spec, 'nodeAllocatableUpdatePeriodSeconds');
  return [
    ...REQUIRED_FLAGS.flatMap(([f, shown]) => (has(spec, f) ? [] : [required(`spec.${shown}`)])),
    ...(has(spec, 'fsGroupPolicy') ? oneOf(text(spec, 'fsGroupPolicy'), FS_GROUP, 'spec.fsGroupPolicy') : []),
    ...validateTokens(objects(spec, 'tokenRequests')),
    ...texts(spec, 'volumeLifecycleModes').flatMap((m) =>
      MODES.includes(m) ? [] : [notSupported('spec.volumeLifecycleModes', m, MODES)],
    ),
    ...(has(spec, 'seLinuxMount') ? [] : [required('spec.seLinuxMount')]),
    ...(period !== undefined && period < 10
      ? [
          invalid(
            'spec.nodeAllocatableUpdatePeriodSeconds',
            period,
            'must be greater than or equal to 10 seconds',
          ),
        ]
      : []),
    ...tokenPlaceErrors(spec),
  ];
}

function validateTokens(requests: JsonObject[]): FieldError[] {
  return requests.flatMap((request, i) => {
    const path = `spec.tokenRequests[${i}]`;
    const audience = text(request, 'audience');
    if (requests.slice(0, i).some((r) => text(r, 'audience') === audience))
      return [duplicate(`${path}.audience`, audience)];
    const seconds = number(request, 'expirationSeconds') ?? 600;
    const refuse = (why: string) => [invalid(`${path}.expirationSeconds`, seconds, why)];
    if (seconds < 600) return refuse('may not specify a duration less than 10 minutes');
    return seconds > 2 ** 32 ? refuse('may not specify a duration larger than 2^32 seconds') : [];
  });
}

function tokenPlaceErrors(spec: JsonObject): FieldError[] {
  const place = value(spec, 'serviceAccountTokenInSecrets');
  const why = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
  return place !== undefined && list(spec, 'tokenRequests').length === 0
    ? [invalid('spec.serviceAccountTokenInSecrets', place, why)]
    : [];
}

const TOKENS_IN_ATTRIBUTES =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes';

function driverWarnings(next: KubeObject, old: KubeObject | undefined): string[] {
  const requests = list(specOf(next), 'tokenRequests');
  const same = old !== undefined && equal(requests, list(specOf(old), 'tokenRequests'));
  const placed = has(specOf(next), 'serviceAccountTokenInSecrets');
  return requests.length > 0 && !placed && !same ? [TOKENS_IN_ATTRIBUTES] : [];
}

export const csiDriverStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  unconditionalUpdate: false,
  validate: validateDriver,
  warnings: driverWarnings,
  // Drops a field of a feature gate that is disabled by default.
  applyDefaults: (driver) => {
    delete ensure(driver, 'spec')['preventPodSchedulingIfMissing'];
  },
  // The generation is not set on create, but counts changes.
  prepareForUpdate(next, old) {
    if (!equal(specOf(next), specOf(old))) next.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  validateUpdate: (next, old) => [
    ...validateDriver(next),
    ...immutable(
      value(specOf(next), 'attachRequired'),
      value(specOf(old), 'attachRequired'),
      'spec.attachedRequired',
    ),
    ...immutable(
      value(specOf(next), 'volumeLifecycleModes'),
      value(specOf(old), 'volumeLifecycleModes'),
      'spec.volumeLifecycleModes',
    ),
  ],
};

const MAX_NODE_ID = 256;

function validateNode(node: KubeObject): FieldError[] {
  const drivers = objects(specOf(node), 'drivers');
  return drivers.flatMap((driver, i) => {
    const path = `spec.drivers[${i}]`;
    const [name, id] = [text(driver, 'name'), text(driver, 'nodeID')];
    const repeated = drivers.slice(0, i).some((d) => text(d, 'name') === name);
    return [
      ...driverName(name, `${path}.name`),
      ...(id === '' ? [required(`${path}.nodeID`)] : []),
      ...(id.length > MAX_NODE_ID
        ? [invalid(`${path}.nodeID`, id, `must be ${MAX_NODE_ID} characters or less`)]
        : []),
      ...nonNegative(number(part(driver, 'allocatable'), 'count'), `${path}.allocatable.count`),
      ...(repeated ? [duplicate(`${path}.name`, name)] : []),
      ...validateKeys(texts(driver, 'topologyKeys'), path),
    ];
  });
}

function validateKeys(keys: string[], path: string): FieldError[] {
  return keys.flatMap((key, i) => [
    ...(key === '' ? [required(path)] : []),
    ...(keys.indexOf(key) < i ? [duplicate(path, key)] : []),
    ...qualifiedName(key, path),
  ]);
}

export const csiNodeStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  unconditionalUpdate: false,
  validate: validateNode,
  validatesMeta: true,
  validateUpdate(next, old) {
    const without = ({ allocatable: _count, ...rest }: JsonObject): JsonObject => rest;
    const changed = objects(specOf(old), 'drivers').flatMap((driver) =>
      objects(specOf(next), 'drivers')
        .filter((d) => text(d, 'name') === text(driver, 'name'))
        .flatMap((d) => immutable(without(d), without(driver), 'spec.drivers')),
    );
    return [...metaOf(next, false, subdomainName), ...validateNode(next), ...changed];
  },
};

const MAX_METADATA = 256 * 1024;
const MAX_MESSAGE = 1024;
const MAX_INT32 = 2_147_483_647;

function validateAttachment(attachment: KubeObject): FieldError[] {
  const spec = specOf(attachment);
  const source = part(spec, 'source');
  const volume = text(source, 'persistentVolumeName');
  return [
    ...driverName(text(spec, 'attacher'), 'spec.attacher'),
    ...validateSource(source),
    ...check(subdomainName, text(spec, 'nodeName'), 'spec.nodeName'),
    ...validateAttachmentStatus(statusOf(attachment)),
    ...(has(source, 'persistentVolumeName')
      ? check(subdomainName, volume, 'spec.source.persistentVolumeName')
      : []),
  ];
}

function validateSource(source: JsonObject): FieldError[] {
  const path = 'spec.source';
  const inline = child(source, 'inlineVolumeSpec');
  const named = has(source, 'persistentVolumeName');
  const one = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (!inline && !named) return [required(path, one)];
  if (inline && named) return [forbidden(path, one)];
  if (inline) return validateVolumeSpec(inline, `${path}.inlineVolumeSpec`, true);
  return text(source, 'persistentVolumeName') === ''
    ? [required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName')]
    : [];
}

function validateAttachmentStatus(status: JsonObject): FieldError[] {
  const metadata = Object.entries(stringMap(status, 'attachmentMetadata'));
  const bytes = metadata.reduce((sum, [k, v]) => sum + Buffer.byteLength(k) + Buffer.byteLength(v), 0);
  return [
    ...(bytes > MAX_METADATA ? [tooLong('status.attachmentMetadata', MAX_METADATA)] : []),
    ...['attachError', 'detachError'].flatMap((f) => {
      const error = child(status, f);
      const code = number(error, 'errorCode') ?? 0;
      return [
        ...(Buffer.byteLength(text(error, 'message')) > MAX_MESSAGE
          ? [tooLong(`status.${f}.message`, MAX_METADATA)]
          : []),
        ...(code < 0 ? [invalid(`status.${f}.errorCode`, code, inRange(0, MAX_INT32))] : []),
      ];
    }),
  ];
}

export const volumeAttachmentStrategy: Strategy = {
  nameRule: subdomainName,
  returnDeleted: true,
  unconditionalUpdate: false,
  prepareForCreate: (attachment) => {
    attachment['status'] = { attached: false };
  },
  validate: validateAttachment,
  prepareForUpdate: (next, old) => copyField(next, old, 'status'),
  validatesMeta: true,
  validateUpdate: (next, old) => [
    ...metaOf(next, false, subdomainName),
    ...validateAttachment(next),
    ...immutable(specOf(next), specOf(old), 'spec'),
  ],
  subresources: {
    status: {
      prepareForUpdate(next, old) {
        copyField(next, old, 'spec');
        keepMeta(next, old);
      },
      validatesMeta: true,
      validateUpdate: (next) => [...metaOf(next, false, subdomainName), ...validateAttachment(next)],
    },
  },
};
