// One request to an aggregated API server: resolves its Service, trusts its caBundle, and sends the user in headers,
// authenticated by the front proxy certificate.

import type { Millis } from '@lapse/base/instant';
import type { ClientCertificate, Outbound, OutboundResponse } from '../admission/webhooks/outbound.ts';
import type { UserInfo } from '../resources/resource.ts';
import type { Store } from '../store/store.ts';
import { type Headers, identityHeaders } from './identity.ts';
import type { Registration } from './registration.ts';
import type { Resolved } from './resolve.ts';

export interface RemoteTransport {
  readonly store: Store;
  readonly outbound: Outbound;
  /** The front proxy client certificate; undefined if it is not configured. */
  readonly certificate: ClientCertificate | undefined;
}

export interface RemoteRequest {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly user: UserInfo;
  readonly headers: Headers;
  readonly body?: Uint8Array;
  /** Default: unlimited. */
  readonly timeout?: Millis;
  readonly signal?: AbortSignal;
}

type Found = Extract<Resolved, { kind: 'found' }>;

export const urlOf = ({ host, port }: Found, path: string): string =>
  `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;

export function callRemote(
  { outbound, certificate }: RemoteTransport,
  { service, ca, insecure }: Registration,
  where: Found,
  { method, path, user, headers, body, timeout, signal }: RemoteRequest,
): Promise<OutboundResponse> {
  return outbound({
    method,
    url: urlOf(where, path),
    serverName: `${service.name}.${service.namespace}.svc`,
    headers: { ...headers, ...identityHeaders(user) },
    ...(ca === undefined ? {} : { ca }),
    ...(insecure ? { insecure } : {}),
    ...(certificate === undefined ? {} : { certificate }),
    ...(body === undefined ? {} : { body }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(signal === undefined ? {} : { signal }),
  });
}
