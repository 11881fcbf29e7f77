// Objects as another server had them: with their uids, times, deletion marks and status, which no request may set. Only
// for simulations of a cluster that exists; nobody reaches this from outside. Defaults are filled in, nothing is validated
// or admitted: the other server has done so.

import { formatTime } from '@lapse/base/instant';
import { uuid } from '@lapse/base/random';
import { clone } from '@lapse/kube/api/json';
import { asJson, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { Core } from './context.ts';
import { keyOf } from './resources/resource.ts';

/** Replaces what has the same name. False: this kind is not served in this version. Throws when it cannot be this kind. */
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
  const there = core.store.getHead(resource.storage, key)?.revision ?? 0;
  await core.store.put(resource.storage, key, there, resource.codec.toStorage(object));
  return true;
}
