// Proxies a request to an aggregated API as the user of the request, after this server has authorized it. The
// response is streamed back unchanged, chunk by chunk.

import { type Millis, seconds } from '@lapse/base/instant';
import { badRequest } from '@lapse/kube/api/errors';
import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import { discard, type OutboundResponse } from '../admission/webhooks/outbound.ts';
import type { Path } from '../http/path.ts';
import { booleanParam, parseQuery } from '../http/query.ts';
import { textResponse } from '../http/respond.ts';
import type { UserInfo } from '../resources/resource.ts';
import { callRemote, type RemoteTransport } from './call.ts';
import { describeConnectionError } from './connectionError.ts';
import { answeredHeaders, forwardedHeaders, type Headers } from './identity.ts';
import type { Registration } from './registration.ts';
import { Relayed } from './relayed.ts';
import { resolveService } from './resolve.ts';

/** Maximum idle time, the same as for own requests. Watches may be idle for longer. */
const TIMEOUT = seconds(60);
/** All clients use discovery often, so its timeout is short. */
const DISCOVERY_TIMEOUT = seconds(5);

export interface Asked {
  readonly request: HttpRequest;
  readonly path: Path;
  readonly user: UserInfo;
}

export async function proxy(
  transport: RemoteTransport,
  registration: Registration,
  { request, path, user }: Asked,
): Promise<HttpResponse> {
  if (!registration.available) return unavailable('service unavailable');
  const where = resolveService(transport.store, registration.service);
  if (where.kind === 'missing') return unavailable('service unavailable');
  checkPath(request.path);
  const { method, body, signal } = request;
  try {
    const response = await callRemote(transport, registration, where, {
      method,
      path: request.path,
      user,
      headers: proxyHeaders(request),
      ...timeoutOf(path, request),
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    return isRedirect(response) ? await refuseRedirect(response) : relay(response);
  } catch (cause) {
    return unavailable(`error trying to reach service: ${describeConnectionError(cause)}`);
  }
}

function timeoutOf(path: Path, { path: text }: HttpRequest): { timeout?: Millis } {
  if (path.kind !== 'resource') return { timeout: DISCOVERY_TIMEOUT };
  const query = parseQuery(text.split('?', 2)[1] ?? '');
  return path.watch || booleanParam(query, 'watch') ? {} : { timeout: TIMEOUT };
}

// Dots, backslashes and the like would lead to another path than the authorized one.
const MISLEADING = /[\\#]|(^|\/)(\.|%2e){1,2}(\/|$)/i;

function checkPath(path: string): void {
  const mark = path.indexOf('?');
  if (MISLEADING.test(mark < 0 ? path : path.slice(0, mark)))
    throw badRequest('the path must not contain ".", "..", "\\" or "#"');
}

function proxyHeaders({ path, headers, body }: HttpRequest): Headers {
  const { host } = headers;
  return {
    ...forwardedHeaders(headers),
    'x-forwarded-uri': path.split('?')[0]!,
    'x-forwarded-proto': 'https',
    ...(host === undefined ? {} : { 'x-forwarded-host': host }),
    ...(body === undefined ? {} : { 'content-length': String(body.length) }),
  };
}

const relay = ({ status, headers, body }: OutboundResponse): HttpResponse => ({
  status,
  headers: withOwnCaching(answeredHeaders(headers)),
  body: new Relayed(body),
});

/** Combines the caching headers of both servers. */
const withOwnCaching = (headers: Headers): Headers => {
  const { 'cache-control': theirs = [] } = headers;
  return theirs.length === 0
    ? headers
    : { ...headers, 'cache-control': ['no-cache, private', theirs].flat() };
};

const isRedirect = ({ status, headers }: OutboundResponse): boolean =>
  status >= 300 && status <= 399 && headers['location'] !== undefined;

async function refuseRedirect({ body }: OutboundResponse): Promise<HttpResponse> {
  await discard(body);
  return textResponse(502, 'the backend attempted to redirect this request, which is not permitted');
}

function unavailable(why: string): HttpResponse {
  const response = textResponse(503, `${why}\n`);
  return { ...response, headers: { ...response.headers, 'x-content-type-options': 'nosniff' } };
}
