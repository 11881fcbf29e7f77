// Aggregated APIs and webhooks in the same process: calls to the named Services go to functions instead of sockets.
// Only this server can call them, so they may trust the headers about the user.

import type { HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { Outbound, OutboundRequest } from '../admission/webhooks/outbound.ts';

/** `headers`: the request headers, each as a list. */
export type LocalService = (
  request: HttpRequest,
  headers: Readonly<Record<string, readonly string[]>>,
) => Promise<HttpResponse>;

/** `services` are named `<name>.<namespace>.svc`; `otherwise` makes all other calls. */
export function localOutbound(
  services: Readonly<Record<string, LocalService>>,
  otherwise: Outbound,
): Outbound {
  return async (call) => {
    const { serverName = '' } = call;
    const service = Object.hasOwn(services, serverName) ? services[serverName] : undefined;
    if (service === undefined) return otherwise(call);
    const distinct = distinctHeaders(call.headers);
    const { status, headers, body } = await service(requestOf(call, distinct), distinct);
    return { status, headers, body: body instanceof Uint8Array ? once(body) : body };
  };
}

const distinctHeaders = (headers: OutboundRequest['headers']): Record<string, readonly string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === 'string' ? [value] : value,
    ]),
  );

function requestOf(
  { method, url, body, signal }: OutboundRequest,
  distinct: Readonly<Record<string, readonly string[]>>,
): HttpRequest {
  const { pathname, search } = new URL(url);
  return {
    method,
    path: `${pathname}${search}`,
    headers: Object.fromEntries(
      Object.entries(distinct).map(([name, values]) => [name, values.length === 1 ? values[0]! : values]),
    ),
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
