// The parameters that a policy binding refers to: objects of any served kind.

import type { JsonObject } from '@lapse/kube/api/json';
import { asJson, parseApiVersion } from '@lapse/kube/api/object';
import type { Core } from '../../context.ts';
import { keyOf, type Resource } from '../../resources/resource.ts';
import type { Stored } from '../../store/stored.ts';
import { selects } from '../../strategies/labelSelector.ts';
import type { ParamRef, Policy } from './policy.ts';

export type Params =
  /** Null: the policy is evaluated once, without parameters. */
  | { readonly kind: 'found'; readonly objects: readonly (JsonObject | null)[] }
  | { readonly kind: 'error'; readonly why: string };

const error = (why: string): Params => ({ kind: 'error', why });

/** The resource of the policy's paramKind, undefined without one, or an error. */
export function paramResource(
  { registry }: Core,
  { paramKind }: Policy,
): { readonly resource: Resource | undefined } | { readonly why: string } {
  if (!paramKind) return { resource: undefined };
  const { group, version } = parseApiVersion(paramKind.apiVersion) ?? { group: '', version: '' };
  const resource = registry.byKind(group, version, paramKind.kind);
  if (resource) return { resource };
  const gvk = `${group}/${version}, Kind=${paramKind.kind}`;
  return { why: `failed to find resource referenced by paramKind: '${gvk}'` };
}

/** `namespace`: of the request; empty for cluster-scoped resources. */
export function collectParams(
  core: Core,
  resource: Resource | undefined,
  ref: ParamRef | undefined,
  namespace: string,
): Params {
  if (!resource || !ref) return { kind: 'found', objects: [null] };
  const home = ref.namespace || namespace;
  if (resource.namespaced && home === '')
    return error('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  if (!resource.namespaced && ref.namespace !== '')
    return error('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  const found = lookUp(core, resource, ref, resource.namespaced ? home : '');
  if (found.length === 0 && ref.deniesMissing)
    return error('no params found for policy binding with `Deny` parameterNotFoundAction');
  return { kind: 'found', objects: found.map((stored) => shown(resource, stored)) };
}

function lookUp({ store }: Core, { storage }: Resource, ref: ParamRef, namespace: string): Stored[] {
  if (ref.name !== '') {
    const stored = store.get(storage, keyOf(namespace, ref.name));
    return stored ? [stored] : [];
  }
  const prefix = namespace === '' ? '' : `${namespace}/`;
  return [...store.heads(storage)]
    .filter(({ key, labels }) => key.startsWith(prefix) && selects(ref.selector, labels) === true)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Kubernetes reads parameters from caches, which drop managedFields for built-in kinds. */
function shown(resource: Resource, stored: Stored): JsonObject {
  const object = resource.codec.show(stored);
  if (resource.custom) return asJson(object);
  const { managedFields: _, ...metadata } = object.metadata;
  return asJson({ ...object, metadata });
}
