// Who we are, for every request: headers (and client certificates, which the connection presents). Credentials are asked
// before each request and told when the server refused them, so that tokens may change while we run.

import type { HeaderMap, Transport, TransportRequest } from './transport.ts';

/** Credentials as they are now. The same object as long as nothing changed. */
export interface Auth {
  readonly headers: HeaderMap;
  /** PEM, for the TLS handshake. */
  readonly cert?: string;
  readonly key?: string;
}

export interface Credentials {
  /** Throws TransportError (`credentials`) when none can be had. */
  current(): Auth | Promise<Auth>;
  /** The server answered 401 to `used`. True when there are now others worth another try. */
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

// Header names allow few characters; the server decodes the rest.
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

/** The same credentials, acting as somebody else. */
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

/** Adds the credentials to every request; after a 401 once more, with new ones. A 401 means nothing was carried out. */
export function withCredentials(inner: Transport, credentials: Credentials): Transport {
  async function send<A extends { status: number }>(
    request: TransportRequest,
    via: (request: TransportRequest) => Promise<A>,
    discard: (answer: A) => void,
  ): Promise<A> {
    const signed = (auth: Auth) => via({ ...request, headers: { ...request.headers, ...auth.headers } });
    const auth = await credentials.current();
    const answer = await signed(auth);
    if (answer.status !== 401 || !(await credentials.refused(auth))) return answer;
    discard(answer);
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
        (answer) => answer.close(),
      ),
    ...(inner.close === undefined ? {} : { close: () => inner.close!() }),
  };
}
