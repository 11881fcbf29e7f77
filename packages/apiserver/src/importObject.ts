// Imports objects from another server with their uids, timestamps, deletion marks and status, which no API request
// may set. Only for simulations of an existing cluster; not reachable through the API. Applies defaults, but skips
// validation and admission: the other server already did both.

import { formatTime } from '@lapse/base/instant';
import { uuid } from '@lapse/base/random';
import { clone } from '@lapse/kube/api/json';
import { asJson, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { Core } from './context.ts';
import { keyOf } from './resources/resource.ts';

/**
 * Replaces an object of the same name. Returns false when this version of the kind is not served. Throws when the
 * object cannot be decoded as its kind.
 */
export async function importObject(core: Core, sent: KubeObject): Promise<boolean> {
  const { group, version } = parseApiVersion(sent.apiVersion) ?? { group: '', version: '' };
  const resource = core.registry.version(group, version)?.find(({ kind }) => kind === sent.kind);
  if (resource === undefined) return false;
  const { object } = resource.codec.decode(clone(asJson(sent)));
  const { metadata } = object;
  if (!resource.namespaced) delete metadata.namespace;
  else metadata.namespace ??= 'default';
  metadata.uid ??= uuid(core.random);
  metadata.creationTimestamp ??= formatTime(core.clock.now());
  delete metadata.managedFields;
  delete metadata.resourceVersion;
  const key = keyOf(metadata.namespace, metadata.name!);
  const currentRevision = core.store.getHead(resource.storage, key)?.revision ?? 0;
  await core.store.put(resource.storage, key, currentRevision, resource.codec.toStorage(object));
  return true;
}
