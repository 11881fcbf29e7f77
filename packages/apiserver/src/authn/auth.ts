// Authentication. Tokens come from a static table or were issued to service accounts; a request without a token is
// system:anonymous. Authorization is in access/authorizer.ts.

import { unauthorized } from '@lapse/kube/api/errors';
import type { HttpRequest } from '@lapse/kube/api/http';
import type { UserInfo } from '../resources/resource.ts';

export interface Authenticator {
  /** The user of a bearer token; undefined when the token is unknown. */
  user(token: string): UserInfo | undefined;
}

const ANONYMOUS: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/** The user of in-process calls without credentials: the owner of the process. */
export const LOCAL_ADMIN: UserInfo = {
  username: 'admin',
  groups: ['system:masters', 'system:authenticated'],
};

/** Tokens by value. A map compares hashes, so the time of a lookup does not depend on the prefix of the token. */
export function tokenAuthenticator(tokens: ReadonlyMap<string, UserInfo>): Authenticator {
  return { user: (token) => tokens.get(token) };
}

/** `token,user,uid,"group1,group2"` per line, as kube-apiserver's --token-auth-file. */
export function parseTokenFile(text: string): Map<string, UserInfo> {
  const tokens = new Map<string, UserInfo>();
  text.split(/\r?\n/).forEach((line, i) => {
    if (line.trim() === '') return;
    const fields = parseCsvLine(line);
    if (!fields || fields.length < 3) {
      throw new Error(
        `token file line ${i + 1}: expected at least 3 columns (token, user, uid), found ${fields?.length ?? 'an unclosed quote'}`,
      );
    }
    const [token, username, uid, groups] = fields as [string, string, string, string | undefined];
    if (token === '' || username === '')
      throw new Error(`token file line ${i + 1}: token and user must not be empty`);
    const named = (groups ?? '')
      .split(',')
      .map((g) => g.trim())
      .filter((g) => g !== '');
    tokens.set(token, { username, ...(uid ? { uid } : {}), groups: [...named, 'system:authenticated'] });
  });
  return tokens;
}

/** Fields of one CSV line; undefined when a quote is not closed. */
function parseCsvLine(line: string): string[] | undefined {
  const fields: string[] = [];
  let rest = line;
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(,|$)/.exec(rest);
    if (quoted) {
      fields.push(quoted[1]!.replaceAll('""', '"'));
      rest = rest.slice(quoted[0].length);
      if (quoted[2] === '') return fields;
      continue;
    }
    if (/^\s*"/.test(rest)) return undefined;
    const comma = rest.indexOf(',');
    fields.push((comma < 0 ? rest : rest.slice(0, comma)).trim());
    if (comma < 0) return fields;
    rest = rest.slice(comma + 1);
  }
}

const SPACED =
  'the provided Authorization header contains extra space before the bearer token, and is ignored';

/** A header with another scheme or without a token is ignored, and so is text after the token. */
export function authenticate(
  request: HttpRequest,
  authenticator: Authenticator | undefined,
  warn: (text: string) => void = () => {},
): UserInfo {
  if (!authenticator) return LOCAL_ADMIN;
  const [scheme, token, more] = (request.headers['authorization'] ?? '').trim().split(' ');
  if (scheme!.toLowerCase() !== 'bearer' || token === undefined) return ANONYMOUS;
  if (token === '') {
    if (more !== undefined) warn(SPACED);
    return ANONYMOUS;
  }
  const user = authenticator.user(token);
  if (!user) throw unauthorized();
  return user;
}
