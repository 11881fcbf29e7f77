// Validation of volume mounts and block devices of containers.

import {
  type FieldError,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
} from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { oneOf } from '../checks.ts';
import { child, flag, has, objects, text } from '../values.ts';
import { descendingPath, noBacksteps } from './paths.ts';

/** Valid volumes of the pod by name. */
export type Volumes = ReadonlyMap<string, JsonObject>;

export function validateMounts(container: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const devices = objects(container, 'volumeDevices');
  const seen = new Set<string>();
  return objects(container, 'volumeMounts').flatMap((mount, i) => {
    const list = `${path}.volumeMounts`;
    const at = `${list}[${i}]`;
    const [name, mountPath] = [text(mount, 'name'), text(mount, 'mountPath')];
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name));
    if (mountPath === '') errors.push(required(`${at}.mountPath`));
    if (seen.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'));
    seen.add(mountPath);
    if (devices.some((d) => text(d, 'name') === name))
      errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devices.some((d) => text(d, 'devicePath') === mountPath))
      errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    // kube-apiserver omits the index from the path here.
    return [...errors, ...validateSubPaths(mount, at, list), ...validateModes(mount, container, list)];
  });
}

function validateSubPaths(mount: JsonObject, at: string, list: string): FieldError[] {
  const [sub, expression] = [text(mount, 'subPath'), text(mount, 'subPathExpr')];
  const errors = sub === '' ? [] : descendingPath(sub, `${list}.subPath`);
  if (expression === '') return errors;
  if (sub !== '')
    errors.push(invalid(`${at}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive'));
  return [...errors, ...descendingPath(expression, `${list}.subPathExpr`)];
}

function validateModes(mount: JsonObject, container: JsonObject, list: string): FieldError[] {
  const errors: FieldError[] = [];
  const propagation = text(mount, 'mountPropagation');
  if (has(mount, 'mountPropagation')) {
    const path = `${list}.mountPropagation`;
    errors.push(...oneOf(propagation, ['Bidirectional', 'HostToContainer', 'None'], path));
    const privileged = flag(child(container, 'securityContext'), 'privileged') === true;
    if (propagation === 'Bidirectional' && !privileged) {
      const why = 'Bidirectional mount propagation is available only to privileged containers';
      errors.push(forbidden(path, why));
    }
  }
  if (!has(mount, 'recursiveReadOnly')) return errors;
  const path = `${list}.recursiveReadOnly`;
  const recursive = text(mount, 'recursiveReadOnly');
  if (recursive === 'Disabled') return errors;
  if (recursive !== 'Enabled' && recursive !== 'IfPossible')
    return [...errors, notSupported(path, recursive, ['Disabled', 'Enabled', 'IfPossible'])];
  if (!flag(mount, 'readOnly')) errors.push(forbidden(path, 'may only be specified when readOnly is true'));
  if (propagation !== '' && propagation !== 'None')
    errors.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'));
  return errors;
}

export function validateDevices(container: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const mounts = objects(container, 'volumeMounts');
  const names = new Set<string>();
  const paths = new Set<string>();
  return objects(container, 'volumeDevices').flatMap((device, i) => {
    const at = `${path}.volumeDevices[${i}]`;
    const [name, devicePath] = [text(device, 'name'), text(device, 'devicePath')];
    const errors = validateDeviceName(name, volumes.get(name), names, `${at}.name`);
    const refuse = (field: string, v: string, why: string) => errors.push(invalid(`${at}.${field}`, v, why));
    if (devicePath === '') errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) refuse('devicePath', devicePath, 'must be unique');
    if (noBacksteps(devicePath, '').length > 0)
      refuse('devicePath', devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounts.some((m) => text(m, 'name') === name))
      refuse('name', name, 'must not already exist in volumeMounts');
    if (mounts.some((m) => text(m, 'mountPath') === devicePath))
      refuse('devicePath', devicePath, 'must not already exist as a path in volumeMounts');
    return errors;
  });
}

/** Adds the name to `names`, the names of the previous devices. */
function validateDeviceName(
  name: string,
  volume: JsonObject | undefined,
  names: Set<string>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const isClaim = child(volume, 'persistentVolumeClaim') ?? child(volume, 'ephemeral');
  const why = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
  if (name === '') errors.push(required(path));
  if (names.has(name)) errors.push(invalid(path, name, 'must be unique'));
  if (volume && !isClaim) errors.push(invalid(path, name, why));
  if (!volume) errors.push(notFound(path, name));
  if (name !== '') names.add(name);
  return errors;
}
