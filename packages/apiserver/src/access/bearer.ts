// Authenticates bearer tokens: the static users first, then service accounts.

import type { Authenticator } from '../authn/auth.ts';
import { type AccountTokens, ISSUER, type TokenResult } from './accountTokens.ts';

/** The audiences of this server. */
const OWN_AUDIENCES = [ISSUER];

export interface Bearers extends Authenticator {
  /** For a TokenReview: also accepts tokens issued for other audiences. */
  authenticate(token: string, audiences: readonly string[]): TokenResult;
}

export function bearers(users: Authenticator, tokens: AccountTokens): Bearers {
  const authenticate = (token: string, audiences: readonly string[]): TokenResult => {
    const known = OWN_AUDIENCES.filter((audience) => audiences.includes(audience));
    const user = known.length > 0 ? users.user(token) : undefined;
    return user ? { kind: 'user', user, audiences: known } : tokens.authenticate(token, audiences);
  };
  return {
    authenticate,
    user: (token) => {
      const result = authenticate(token, OWN_AUDIENCES);
      return result.kind === 'user' ? result.user : undefined;
    },
  };
}

/** The audiences of a review; default: those of this server. */
export const audiencesOf = (named: readonly string[]): readonly string[] =>
  named.length === 0 ? OWN_AUDIENCES : named;
