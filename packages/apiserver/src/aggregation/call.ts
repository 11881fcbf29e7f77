// One request to the server behind a registration: found through its Service, trusted by its caBundle, asked on behalf of
// a user, with the certificate by which it knows this server.

import type { Millis } from '@lapse/base/instant';
import type { ClientCertificate, Outbound, OutboundResponse } from '../admission/webhooks/outbound.ts';
import type { UserInfo } from '../resources/resource.ts';
import type { Store } from '../store/store.ts';
import { type Headers, identityHeaders } from './identity.ts';
import type { Registration } from './registration.ts';
import type { Resolved } from './resolve.ts';

export interface Wires {
  readonly store: Store;
  readonly outbound: Outbound;
  /** What this server shows to those it speaks to for others; undefined when nobody was made for it. */
  readonly certificate: ClientCertificate | undefined;
}

export interface Question {
  readonly method: string;
  /** Path and query, percent-encoded. */
  readonly path: string;
  readonly user: UserInfo;
  readonly headers: Headers;
  readonly body?: Uint8Array;
  /** Unset: as long as it takes. */
  readonly timeout?: Millis;
  readonly signal?: AbortSignal;
}

type Found = Extract<Resolved, { kind: 'found' }>;

export const urlOf = ({ host, port }: Found, path: string): string =>
  `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;

export function callRemote(
  { outbound, certificate }: Wires,
  { service, ca, insecure }: Registration,
  where: Found,
  { method, path, user, headers, body, timeout, signal }: Question,
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
