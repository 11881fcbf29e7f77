// Tables of volumes, claims, storage classes and CSI objects.

import type { Json } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  ageOf,
  at,
  flag,
  get,
  isDeleted,
  list,
  NONE,
  nameOf,
  objects,
  quantity,
  text,
  textOr,
  texts,
  UNSET,
} from './cells.ts';
import type { Cells } from './printer.ts';

const SHORT_MODES: readonly (readonly [mode: string, short: string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function accessModes(value: Json | undefined): string {
  const modes = texts(value);
  return SHORT_MODES.filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

/** The deprecated annotation takes precedence over the field. */
const storageClass = (object: KubeObject): string =>
  object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ??
  text(get(object, 'spec', 'storageClassName'));

const phase = (object: KubeObject): string =>
  isDeleted(object) ? 'Terminating' : text(get(object, 'status', 'phase'));

const volumeCells: Cells = (volume, now) => {
  const claim = get(volume, 'spec', 'claimRef');
  return [
    nameOf(volume),
    quantity(get(volume, 'spec', 'capacity', 'storage')),
    accessModes(get(volume, 'spec', 'accessModes')),
    text(get(volume, 'spec', 'persistentVolumeReclaimPolicy')),
    phase(volume),
    claim === undefined ? '' : `${text(at(claim, 'namespace'))}/${text(at(claim, 'name'))}`,
    storageClass(volume),
    textOr(get(volume, 'spec', 'volumeAttributesClassName'), UNSET),
    text(get(volume, 'status', 'reason')),
    ageOf(volume, now),
    textOr(get(volume, 'spec', 'volumeMode'), UNSET),
  ];
};

const claimCells: Cells = (claim, now) => {
  const volume = text(get(claim, 'spec', 'volumeName'));
  const bound = volume !== '';
  return [
    nameOf(claim),
    phase(claim),
    volume,
    bound ? quantity(get(claim, 'status', 'capacity', 'storage')) : '',
    bound ? accessModes(get(claim, 'status', 'accessModes')) : '',
    storageClass(claim),
    textOr(get(claim, 'spec', 'volumeAttributesClassName'), UNSET),
    ageOf(claim, now),
    textOr(get(claim, 'spec', 'volumeMode'), UNSET),
  ];
};

const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

const storageClassCells: Cells = (object, now) => {
  const isDefault = DEFAULT_CLASS.some((key) => object.metadata.annotations?.[key] === 'true');
  return [
    nameOf(object) + (isDefault ? ' (default)' : ''),
    text(get(object, 'provisioner')),
    textOr(get(object, 'reclaimPolicy'), 'Delete'),
    textOr(get(object, 'volumeBindingMode'), 'Immediate'),
    flag(get(object, 'allowVolumeExpansion')),
    ageOf(object, now),
  ];
};

const attachmentCells: Cells = (object, now) => [
  nameOf(object),
  text(get(object, 'spec', 'attacher')),
  text(get(object, 'spec', 'source', 'persistentVolumeName')),
  text(get(object, 'spec', 'nodeName')),
  flag(get(object, 'status', 'attached')),
  ageOf(object, now),
];

const csiDriverCells: Cells = (driver, now) => {
  const spec = (field: string) => get(driver, 'spec', field);
  const tokens = spec('tokenRequests');
  const audiences = objects(tokens).map((token) => text(token['audience']));
  return [
    nameOf(driver),
    flag(spec('attachRequired'), true),
    flag(spec('podInfoOnMount')),
    flag(spec('storageCapacity')),
    tokens === undefined ? UNSET : audiences.join(','),
    flag(spec('requiresRepublish')),
    texts(spec('volumeLifecycleModes')).join(',') || NONE,
    ageOf(driver, now),
  ];
};

const csiNodeCells: Cells = (node, now) => [
  nameOf(node),
  list(get(node, 'spec', 'drivers')).length,
  ageOf(node, now),
];

const attributesClassCells: Cells = (object, now) => [
  nameOf(object),
  text(get(object, 'driverName')),
  ageOf(object, now),
];

export const VOLUMES: Readonly<Record<string, Cells>> = {
  persistentvolumes: volumeCells,
  persistentvolumeclaims: claimCells,
  'storageclasses.storage.k8s.io': storageClassCells,
  'volumeattachments.storage.k8s.io': attachmentCells,
  'csidrivers.storage.k8s.io': csiDriverCells,
  'csinodes.storage.k8s.io': csiNodeCells,
  'volumeattributesclasses.storage.k8s.io': attributesClassCells,
};
