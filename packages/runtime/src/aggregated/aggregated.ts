// The request handler of an aggregated API server. The front proxy authenticates the user, a SubjectAccessReview
// authorizes the request, and discovery documents describe the resources. The handler is a function of the request and
// its peer; host/listen.ts owns sockets and certificates.

import { gzipStream } from '@lapse/base/gzipStream';
import type { Log } from '@lapse/base/log';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { ApiError } from '@lapse/kube/api/status';
import type { Peer } from '../host/peer.ts';
import { asError } from '../outcome.ts';
import { acceptsGzip } from './acceptsGzip.ts';
import type { Access, Authorizer } from './access.ts';
import type { AggregatedApi } from './api.ts';
import { AGGREGATED_TYPE, discoveryList, groupDocument, groupList, resourceList } from './documents.ts';
import { type ParsedRequest, parseRequest, type ResourceRequest } from './path.ts';
import { authenticate, type FrontProxy, type User } from './requestHeader.ts';

export interface AggregatedOptions {
  readonly api: AggregatedApi;
  /** Returns the current configuration, because the authority can change. */
  readonly frontProxy: () => FrontProxy;
  readonly authorize: Authorizer;
  readonly log: Log;
}

/** Paths without authentication. */
const PUBLIC_PATHS = new Set(['/healthz', '/livez', '/readyz']);
const isPublic = (path: string): boolean => PUBLIC_PATHS.has(path.split('?')[0]!);

/** Refuses callers other than the front proxy before their request body is read. */
export const requireFrontProxy =
  (frontProxy: () => FrontProxy) =>
  ({ path }: Pick<HttpRequest, 'path'>, peer: Peer): HttpResponse | undefined =>
    isPublic(path) || authenticate(frontProxy(), peer) !== undefined ? undefined : UNAUTHORIZED;

export function aggregatedHandler(
  options: AggregatedOptions,
): (request: HttpRequest, peer: Peer) => Promise<HttpResponse> {
  return async (request, peer) => {
    try {
      return await respond(options, request, peer);
    } catch (error) {
      if (error instanceof ApiError) return json(error.status as unknown as JsonObject, error.code);
      options.log.error({ error: asError(error), path: request.path }, 'an aggregated request failed');
      return refusal(500, 'InternalError', 'Internal error occurred');
    }
  };
}

async function respond(options: AggregatedOptions, request: HttpRequest, peer: Peer): Promise<HttpResponse> {
  const { method, path } = request;
  if (isPublic(path)) return plain('ok');
  const user = authenticate(options.frontProxy(), peer);
  if (user === undefined) return UNAUTHORIZED;
  const parsed = parseRequest(method, path);
  if (parsed === undefined) return refusal(400, 'BadRequest', 'the request path or method is invalid');
  const access = await options.authorize(user, parsed, method);
  if (!access.allowed) return forbidden(user, parsed, access);
  return parsed.kind === 'path'
    ? discover(options.api, parsed.path, request)
    : serve(options.api, parsed, { user, request });
}

function discover(api: AggregatedApi, path: string, { method, headers }: HttpRequest): HttpResponse {
  if (method !== 'GET' && method !== 'HEAD') return refusal(405, 'MethodNotAllowed', 'only GET');
  const wantsAll = /apidiscovery\.k8s\.io;v=v2;/.test((headers['accept'] ?? '').replaceAll(' ', ''));
  switch (path.replace(/\/$/, '')) {
    case '/apis':
      return wantsAll ? json(discoveryList(api), 200, AGGREGATED_TYPE) : json(groupList(api));
    case `/apis/${api.group}`:
      return json(groupDocument(api));
    case `/apis/${api.group}/${api.version}`:
      return json(resourceList(api));
    default:
      return refusal(404, 'NotFound', 'the server could not find the requested resource');
  }
}

async function serve(
  api: AggregatedApi,
  { kind: _, ...parsed }: ResourceRequest,
  { user, request }: { user: User; request: HttpRequest },
): Promise<HttpResponse> {
  const isHere = parsed.group === api.group && parsed.version === api.version;
  const found = api.resources.find(
    ({ resource, subresource }) =>
      isHere && resource === parsed.resource && subresource === parsed.subresource,
  );
  // A namespaced resource can be listed over all namespaces, but a request with a name needs a namespace.
  const misplaced = found !== undefined && found.namespaced !== (parsed.namespace !== undefined);
  if (found === undefined || (misplaced && (parsed.name !== undefined || !found.namespaced)))
    return refusal(404, 'NotFound', 'the server could not find the requested resource');
  if (!found.verbs.includes(parsed.verb))
    return refusal(
      405,
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
    );
  const { headers, body, signal } = request;
  const answer = await found.answer({
    ...parsed,
    user,
    headers,
    query: new URLSearchParams(request.path.split('?')[1] ?? ''),
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  if ('object' in answer) return json(answer.object, answer.status);
  const plainHeaders = { ...answer.headers, 'content-type': answer.contentType };
  if (answer.compressible !== true || answer.body instanceof Uint8Array)
    return { status: 200, headers: plainHeaders, body: answer.body };
  const vary = { ...plainHeaders, vary: 'Accept-Encoding' };
  if (!acceptsGzip(headers['accept-encoding'] ?? ''))
    return { status: 200, headers: vary, body: answer.body };
  return { status: 200, headers: { ...vary, 'content-encoding': 'gzip' }, body: gzipStream(answer.body) };
}

const plain = (text: string): HttpResponse => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from(text),
});

const json = (value: JsonObject, status = 200, type = 'application/json'): HttpResponse => ({
  status,
  headers: { 'content-type': type },
  body: Buffer.from(writeJson(value)),
});

function refusal(code: number, reason: string, message: string): HttpResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  return json(status, code);
}

const UNAUTHORIZED = refusal(401, 'Unauthorized', 'Unauthorized');

function forbidden(user: User, parsed: ParsedRequest, { reason }: Access): HttpResponse {
  const who = `User ${JSON.stringify(user.name)} cannot`;
  const why = reason === '' ? '' : `: ${reason}`;
  if (parsed.kind === 'path')
    return refusal(403, 'Forbidden', `forbidden: ${who} get path ${JSON.stringify(parsed.path)}${why}`);
  const { resource, group, subresource, name, verb, namespace } = parsed;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where =
    namespace === undefined ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const what = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  const text = `${resource}.${group}${what} is forbidden: ${who} ${verb} resource ${JSON.stringify(full)} in API group ${JSON.stringify(group)} ${where}${why}`;
  return refusal(403, 'Forbidden', text);
}
