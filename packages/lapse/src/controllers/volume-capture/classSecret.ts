// The secret that a VolumeSnapshotClass names for csi-snapshotter. Lapse does not read it.

import { DELETION_SECRET_NAME, DELETION_SECRET_NAMESPACE } from '@lapse/kube/api/kinds/snapshotNames';
import type { VolumeSnapshotClass } from '@lapse/kube/api/kinds/volumes';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { snapshotName } from '#requests/names';

const SECRET_NAME = 'csi.storage.k8s.io/snapshotter-secret-name';
const SECRET_NAMESPACE = 'csi.storage.k8s.io/snapshotter-secret-namespace';

/** Replaces the variables of a template, for the VolumeSnapshot that the content refers to. */
function resolve(template: string, { metadata }: VolumeCaptureRequest): string {
  const values: Record<string, string> = {
    '${volumesnapshotcontent.name}': snapshotName(metadata.uid!),
    '${volumesnapshot.namespace}': metadata.namespace!,
    '${volumesnapshot.name}': metadata.name!,
  };
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), template);
}

/** Why csi-snapshotter cannot find the secret of the class; undefined if it can, or the class names none. */
export function secretProblem(
  request: VolumeCaptureRequest,
  { parameters = {} }: VolumeSnapshotClass,
): string | undefined {
  const { [SECRET_NAME]: name = '', [SECRET_NAMESPACE]: namespace = '' } = parameters;
  if (name === '' && namespace === '') return undefined;
  if (name === '' || namespace === '')
    return `has only one of the parameters ${SECRET_NAME} and ${SECRET_NAMESPACE}`;
  const unknown = /\$\{[^}]*\}/.exec(`${resolve(name, request)} ${resolve(namespace, request)}`);
  return unknown === null ? undefined : `names its secret with the unknown variable ${unknown[0]}`;
}

/** The annotations by which csi-snapshotter finds the secret of the class when it deletes the snapshot. */
export function deletionSecret(
  request: VolumeCaptureRequest,
  { parameters = {} }: VolumeSnapshotClass,
): Record<string, string> {
  const { [SECRET_NAME]: name, [SECRET_NAMESPACE]: namespace } = parameters;
  if (!name || !namespace) return {};
  return {
    [DELETION_SECRET_NAME]: resolve(name, request),
    [DELETION_SECRET_NAMESPACE]: resolve(namespace, request),
  };
}
