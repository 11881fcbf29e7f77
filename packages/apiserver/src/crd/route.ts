// Routing of custom resources: the CRD decides about paths and methods, with other errors than for built-in kinds.

import { badRequest, notFound } from '@lapse/kube/api/errors';
import type { HttpRequest } from '@lapse/kube/api/http';
import { ApiError } from '@lapse/kube/api/status';
import type { ResourcePath } from '../http/path.ts';
import type { Resource } from '../resources/resource.ts';

/** The request for the verbs; undefined: 404. */
export function routeCustom(
  resource: Resource,
  asked: ResourcePath,
  request: HttpRequest,
): { path: ResourcePath; request: HttpRequest } | undefined {
  // Path segments after a subresource are ignored.
  const path = { ...asked, subresource: asked.subresource?.split('/')[0] };
  if (isMisplaced(resource, path, request)) return undefined;
  if (resource.unservable) throw resource.unservable();
  // A method without a verb has no name in the error either.
  const verb = Object.hasOwn(VERBS, request.method) ? VERBS[request.method]! : '';
  if (path.subresource !== undefined) checkSubresource(resource, path, verb);
  else if (verb === '') throw unsupported(resource, verb);
  if (path.name === undefined && (verb === 'update' || verb === 'patch')) {
    throw badRequest('name must be provided');
  }
  return {
    // The name in the path of a POST is ignored.
    path: verb === 'create' ? { ...path, name: undefined } : path,
    request: request.method === 'HEAD' ? { ...request, method: 'GET' } : request,
  };
}

const VERBS: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** A namespace that is not allowed, or a missing one except for reads across all namespaces. */
function isMisplaced(resource: Resource, path: ResourcePath, { method }: HttpRequest): boolean {
  if (!resource.namespaced) return path.namespace !== undefined;
  const acrossAll = path.name === undefined && (method === 'GET' || method === 'HEAD');
  return path.namespace === undefined && !acrossAll;
}

function checkSubresource(resource: Resource, path: ResourcePath, verb: string): void {
  const served = resource.subresources.find((s) => s.name === path.subresource);
  if (!served) throw notFound(resource, path.name!);
  if (!served.verbs.includes(verb)) throw unsupported(resource, verb);
}

function unsupported({ plural, group }: Resource, verb: string): ApiError {
  const text = `${verb} is not supported on resources of kind "${plural}.${group}"`;
  return new ApiError(405, 'MethodNotAllowed', text, { group, kind: plural });
}
