// Handles one request: path → user → resource → verb → response. Every error becomes a Status response; `handle`
// never throws.

import { formatHttpDate } from '@lapse/base/httpDate';
import { uuid } from '@lapse/base/random';
import { badRequest, internalError, methodNotAllowed, noSuchResource } from '@lapse/kube/api/errors';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { checkPathSegment } from '@lapse/kube/api/names';
import { ApiError } from '@lapse/kube/api/status';
import { attributesOf, refused } from '../access/attributes.ts';
import { impersonated } from '../access/impersonation.ts';
import { reviewHandler } from '../access/reviews.ts';
import { proxy } from '../aggregation/proxy.ts';
import { type Authenticator, authenticate } from '../authn/auth.ts';
import type { Call, Core } from '../context.ts';
import { routeCustom } from '../crd/route.ts';
import { discover } from '../discovery/discovery.ts';
import { RequestTrace } from '../metrics/trace.ts';
import { prettified } from '../representations/pretty.ts';
import type { Resource, UserInfo } from '../resources/resource.ts';
import { create } from '../verbs/create.ts';
import { deleteOne } from '../verbs/delete.ts';
import { deleteCollection } from '../verbs/deleteCollection.ts';
import { endpointOf } from '../verbs/endpoints.ts';
import { get } from '../verbs/get.ts';
import { list } from '../verbs/list.ts';
import { patch } from '../verbs/patch.ts';
import { update } from '../verbs/update.ts';
import { compressed } from './compress.ts';
import { negotiate } from './negotiate.ts';
import { otherPath } from './otherPaths.ts';
import { type Path, parsePath, type ResourcePath } from './path.ts';
import { booleanParam, checkTimeout, parseQuery } from './query.ts';
import { errorResponse, notFoundPage, textResponse } from './respond.ts';
import { warningHeaders } from './warnings.ts';

export interface HandleOptions {
  readonly authenticator: Authenticator | undefined;
  /** Called with unexpected errors; the client gets 500. */
  readonly onUnexpected: (cause: unknown, request: HttpRequest) => void;
}

/** Maximum size of a request body in bytes, as in etcd and kube-apiserver. */
export const MAX_BODY = 3 * 1024 * 1024;

export const tooLarge = () =>
  new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY}`);

export async function handle(
  core: Core,
  options: HandleOptions,
  request: HttpRequest,
): Promise<HttpResponse> {
  const warnings: string[] = [];
  const trace = new RequestTrace(core, request);
  let response: HttpResponse;
  try {
    if ((request.body?.length ?? 0) > MAX_BODY) throw tooLarge();
    const plain = await dispatch(core, options, request, { warnings, trace });
    response = await compressed(request, prettified(request, plain));
  } catch (cause) {
    if (!(cause instanceof ApiError)) options.onUnexpected(cause, request);
    const error = cause instanceof ApiError ? cause : internalError((cause as Error).message);
    response = prettified(request, errorResponse(error, request.headers['accept']));
  }
  trace.end(response.status);
  return withCommonHeaders(core, request, withoutBody(request, response), warnings);
}

/** HEAD: the headers and the content length of the GET response. */
function withoutBody(request: HttpRequest, response: HttpResponse): HttpResponse {
  const { body, headers } = response;
  if (request.method !== 'HEAD' || !(body instanceof Uint8Array)) return response;
  return {
    ...response,
    headers: { ...headers, 'content-length': String(body.length) },
    body: new Uint8Array(),
  };
}

function withCommonHeaders(
  core: Core,
  request: HttpRequest,
  response: HttpResponse,
  warnings: string[],
): HttpResponse {
  const sent = request.headers['audit-id'];
  const headers: Record<string, string | readonly string[]> = {
    'audit-id': sent !== undefined && /^[\x20-\x7e]{1,64}$/.test(sent) ? sent : uuid(core.random),
    'cache-control': 'no-cache, private',
    date: formatHttpDate(core.clock.now()),
    ...(response.status === 403 ? { 'x-content-type-options': 'nosniff' } : {}),
    ...response.headers,
  };
  const warned = warningHeaders(warnings);
  if (warned.length > 0) headers['warning'] = warned;
  return { ...response, headers };
}

async function dispatch(
  core: Core,
  options: HandleOptions,
  request: HttpRequest,
  { warnings, trace }: { warnings: string[]; trace: RequestTrace },
): Promise<HttpResponse> {
  const mark = request.path.indexOf('?');
  const pathname = mark < 0 ? request.path : request.path.slice(0, mark);
  const query = parseQuery(mark < 0 ? '' : request.path.slice(mark + 1));
  const path = parsePath(pathname);
  trace.route(path, query);
  const attributes = attributesOf(path, pathname, {
    verb: verbOf(request.method, path, query),
    fieldSelector: query.get('fieldSelector'),
  });
  if (attributes.verb !== 'watch') checkTimeout(query);
  const caller = authenticate(request, options.authenticator, (text) => warnings.push(text));
  const user = impersonated(request.headers, caller, attributes, core);
  const { allowed, reason } = core.authorizer.authorize(user, attributes);
  if (!allowed) throw refused(user, attributes, reason);
  const remote = core.aggregator.find(path);
  if (remote) return proxy(core.aggregator.transport, remote, { request, path, user });
  switch (path.kind) {
    case 'bad':
      return textResponse(400, '400 Bad Request');
    case 'discovery':
      return discover(core, path, request);
    case 'other':
      return otherPath(core, path.path, query, request);
    case 'resource':
      return resourceCall(core, { path, query, user, request, warnings });
  }
}

/** The verb for authorization: the HTTP method for a non-resource path, the resource verb otherwise. */
export function verbOf(method: string, path: Path, query: URLSearchParams): string {
  if (path.kind !== 'resource') return method.toLowerCase();
  if (path.watch) return 'watch';
  const base = VERBS[method] ?? '';
  if (path.name !== undefined) return base;
  if (base === 'get') return booleanParam(query, 'watch') ? 'watch' : 'list';
  return base === 'delete' ? 'deletecollection' : base;
}

const VERBS: Record<string, string> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

interface Incoming {
  readonly path: ResourcePath;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly request: HttpRequest;
  readonly warnings: string[];
}

async function resourceCall(
  core: Core,
  { path, query, user, request, warnings }: Incoming,
): Promise<HttpResponse> {
  checkName(path);
  const resource = core.registry.get(path.group, path.version, path.resource);
  if (!resource) {
    const { group } = path;
    if (!core.registry.hasGroup(group) || core.registry.isCustomGroup(group)) return notFoundPage();
    throw noSuchResource();
  }
  if (resource.custom) {
    const routed = routeCustom(resource, path, request);
    if (!routed) return notFoundPage();
    return verbCall(core, { query, user, warnings, resource, ...routed });
  }
  // Not a valid path: a cluster-scoped resource with a namespace, or a named namespaced object without one.
  if (path.namespace !== undefined && !resource.namespaced) throw noSuchResource();
  if (resource.namespaced && path.namespace === undefined && path.name !== undefined) throw noSuchResource();
  if (path.subresource && !hasSubresource(resource, path.subresource)) throw noSuchResource();
  return verbCall(core, { path, query, user, request, warnings, resource });
}

/** `.` and `..` are not valid names: they would leave the collection. */
function checkName({ name }: ResourcePath): void {
  const [complaint] = name === '.' || name === '..' ? checkPathSegment(name) : [];
  if (complaint) throw badRequest(`Name parameter invalid: "${name}": ${complaint}`);
}

/** The path belongs to the resource; this function dispatches on the verb. */
async function verbCall(
  core: Core,
  { path, query, user, request, warnings, resource }: Incoming & { readonly resource: Resource },
): Promise<HttpResponse> {
  warnings.push(...(resource.warnings ?? []));
  const call: Call = {
    core,
    request,
    query,
    user,
    resource,
    namespace: path.namespace,
    name: path.watch ? undefined : path.name,
    subresource: path.subresource,
    negotiated: negotiate(request.headers['accept'], {
      custom: resource.custom,
      streams: path.name === undefined && request.method === 'GET',
    }),
    warnings,
  };
  if (path.watch && !resource.custom && request.method !== 'GET') throw methodNotAllowed();
  if (path.watch) return list(path.name ? { ...call, name: path.name } : call, true);
  return route(call);
}

/** Discovery does not list every endpoint, for example the logs of Pods. */
const hasSubresource = (resource: Resource, name: string): boolean =>
  resource.subresources.some((s) => s.name === name) || endpointOf(resource, name) !== undefined;

async function route(call: Call): Promise<HttpResponse> {
  const { method } = call.request;
  if (call.subresource) return routeSubresource(call);
  const verb = call.name === undefined ? COLLECTION[method] : NAMED[method];
  if (!verb || !(call.resource.custom || call.resource.verbs.includes(verb))) throw methodNotAllowed();
  // Writes to a namespaced resource need a namespace in the path.
  if (call.resource.namespaced && call.namespace === undefined && verb !== 'list') throw methodNotAllowed();
  return HANDLERS[verb]!(call);
}

const COLLECTION: Record<string, string> = { GET: 'list', POST: 'create', DELETE: 'deletecollection' };
const NAMED: Record<string, string> = { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

async function routeSubresource(call: Call): Promise<HttpResponse> {
  const { method } = call.request;
  const endpoint = endpointOf(call.resource, call.subresource!);
  if (endpoint) {
    const run = Object.hasOwn(endpoint, method) ? endpoint[method] : undefined;
    if (!run) throw methodNotAllowed();
    return run(call);
  }
  const info = call.resource.subresources.find((s) => s.name === call.subresource)!;
  const verb = NAMED[method];
  if (!verb || !info.verbs.includes(verb)) throw methodNotAllowed();
  return HANDLERS[verb]!(call);
}

const HANDLERS: Readonly<Record<string, (call: Call) => Promise<HttpResponse>>> = {
  list: (call) => list(call, false),
  create: (call) => reviewHandler(call.resource)?.(call) ?? create(call),
  deletecollection: deleteCollection,
  get,
  update,
  patch,
  delete: deleteOne,
};
