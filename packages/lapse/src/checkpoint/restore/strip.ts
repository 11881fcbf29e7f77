// Removes from a captured object what the API server, controllers and the cluster set, so that it can be applied again.

import { clone, getOwn, isObject, type JsonObject } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { KIND_RULES } from './kindRules.ts';
import { isServerAnnotation, isSystemFinalizer, SERVER_METADATA } from './serverSet.ts';

/** Group and kind, without the version: `apps/Deployment`, `/Pod`. */
export const typeOf = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string =>
  `${parseApiVersion(apiVersion)?.group ?? apiVersion}/${kind}`;

/** Returns a copy. */
export function stripObject(captured: KubeObject): KubeObject {
  const object = clone(asJson(captured));
  delete object.status;
  const { metadata } = object;
  if (isObject(metadata)) stripMetadata(metadata);
  const type = typeOf(captured);
  if (Object.hasOwn(KIND_RULES, type)) KIND_RULES[type]!(object);
  return asObject(object);
}

function stripMetadata(metadata: JsonObject): void {
  for (const field of SERVER_METADATA) delete metadata[field];
  const annotations = getOwn(metadata, 'annotations');
  if (isObject(annotations)) {
    for (const name of Object.keys(annotations)) if (isServerAnnotation(name)) delete annotations[name];
    if (Object.keys(annotations).length === 0) delete metadata.annotations;
  }
  const finalizers = getOwn(metadata, 'finalizers');
  if (Array.isArray(finalizers)) {
    const kept = finalizers.filter((name) => typeof name === 'string' && !isSystemFinalizer(name));
    if (kept.length === 0) delete metadata.finalizers;
    else metadata.finalizers = kept;
  }
}
