// Credentials for every request: headers and client certificates. They are read before each request and notified of a
// 401, so that tokens may change while the process runs.

import type { HeaderMap, Transport, TransportRequest } from './transport.ts';

/** The current credentials. The same object as long as nothing changed. */
export interface Auth {
  readonly headers: HeaderMap;
  /** PEM, for the TLS handshake. */
  readonly cert?: string;
  readonly key?: string;
}

export interface Credentials {
  /** Throws TransportError (`credentials`) if no credentials can be obtained. */
  current(): Auth | Promise<Auth>;
  /** The server responded 401 to `used`. True if there are now different credentials to retry with. */
  refused(used: Auth): boolean | Promise<boolean>;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Credentials that never change. */
export function fixedCredentials(auth: Auth): Credentials {
  return { current: () => auth, refused: () => false };
}

export const anonymous: Credentials = fixedCredentials({ headers: {} });

export const bearer = (token: string): HeaderMap => ({ authorization: `Bearer ${token}` });

export const basic = (username: string, password: string): HeaderMap => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
});

// Header names allow few characters. The rest is percent-encoded, and the server decodes it.
const extraHeader = (key: string): string =>
  `impersonate-extra-${encodeURIComponent(key).replaceAll('(', '%28').replaceAll(')', '%29')}`.toLowerCase();

export function impersonationHeaders(who: Impersonation): HeaderMap {
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': who.user };
  if (who.uid !== undefined) headers['impersonate-uid'] = who.uid;
  if (who.groups !== undefined && who.groups.length > 0) headers['impersonate-group'] = who.groups;
  for (const [key, values] of Object.entries(who.extra ?? {}))
    if (values.length > 0) headers[extraHeader(key)] = values;
  return headers;
}

/** The same credentials with impersonation headers. */
export function impersonating(inner: Credentials, who: Impersonation): Credentials {
  const headers = impersonationHeaders(who);
  let last: { inner: Auth; outer: Auth } | undefined;
  const wrap = (auth: Auth): Auth => {
    if (last?.inner !== auth)
      last = { inner: auth, outer: { ...auth, headers: { ...auth.headers, ...headers } } };
    return last.outer;
  };
  return {
    current: () => {
      const auth = inner.current();
      return auth instanceof Promise ? auth.then(wrap) : wrap(auth);
    },
    refused: (used) => (last?.outer === used ? inner.refused(last.inner) : true),
  };
}

/**
 * Adds the credentials to every request. After a 401 it retries once with new credentials; a 401 means that the server
 * did not execute the request.
 */
export function withCredentials(inner: Transport, credentials: Credentials): Transport {
  async function send<A extends { status: number }>(
    request: TransportRequest,
    via: (request: TransportRequest) => Promise<A>,
    discard: (response: A) => void,
  ): Promise<A> {
    const signed = (auth: Auth) => via({ ...request, headers: { ...request.headers, ...auth.headers } });
    const auth = await credentials.current();
    const response = await signed(auth);
    if (response.status !== 401 || !(await credentials.refused(auth))) return response;
    discard(response);
    return signed(await credentials.current());
  }
  return {
    request: (request) =>
      send(
        request,
        (r) => inner.request(r),
        () => {},
      ),
    stream: (request) =>
      send(
        request,
        (r) => inner.stream(r),
        (response) => response.close(),
      ),
    ...(inner.close === undefined ? {} : { close: () => inner.close!() }),
  };
}
