// Identity in requests to aggregated APIs: the front proxy headers with the user, and the client headers that must
// not be forwarded (credentials, and identity headers of the client).

import type { HttpRequest } from '@lapse/kube/api/http';
import type { UserInfo } from '../resources/resource.ts';

export type Headers = Record<string, string | readonly string[]>;

export const USER_HEADER = 'X-Remote-User';
export const UID_HEADER = 'X-Remote-Uid';
export const GROUP_HEADER = 'X-Remote-Group';
export const EXTRA_PREFIX = 'X-Remote-Extra-';

/** The server itself, when it checks availability and discovery. */
export const AGGREGATOR: UserInfo = { username: 'system:kube-aggregator', groups: ['system:masters'] };

export function identityHeaders({ username, uid = '', groups, extra = {} }: UserInfo): Headers {
  const headers: Headers = { [USER_HEADER.toLowerCase()]: username };
  if (uid !== '') headers[UID_HEADER.toLowerCase()] = uid;
  if (groups.length > 0) headers[GROUP_HEADER.toLowerCase()] = groups;
  for (const [key, values] of Object.entries(extra))
    if (values.length > 0) headers[EXTRA_PREFIX.toLowerCase() + escapedKey(key)] = values;
  return headers;
}

/** Header names are case-insensitive and allow few characters, so keys are percent-encoded. */
const escapedKey = (key: string): string =>
  encodeURIComponent(key)
    .replace(/[()]/g, (char) => (char === '(' ? '%28' : '%29'))
    .toLowerCase();

// Hop-by-hop headers, and headers for this server only.
const DROPPED = new Set([
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const CLAIMS = /^(x-remote-(user|uid|group|extra-.*)|impersonate-.*)$/;

/** The headers of the client request that are forwarded. */
export function forwardedHeaders(headers: HttpRequest['headers']): Headers {
  const named = listedIn(headers['connection']);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || DROPPED.has(name) || named.has(name) || CLAIMS.test(name) ? [] : [[name, value]],
    ),
  );
}

const CORS = /^access-control-/;

/** The headers of the response that are returned to the client. */
export function answeredHeaders(headers: Readonly<Headers>): Headers {
  const named = listedIn(headers['connection']);
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => (!DROPPED.has(name) || name === 'content-length') && !named.has(name) && !CORS.test(name),
    ),
  );
}

/** Hop-by-hop headers named by `Connection`. */
const listedIn = (connection: string | readonly string[] = ''): Set<string> =>
  new Set(
    [connection]
      .flat()
      .join(',')
      .split(',')
      .map((name) => name.trim().toLowerCase()),
  );
