// Authenticates bearer tokens: the static users first, then service accounts.

import type { Authenticator } from '../authn/auth.ts';
import { type AccountTokens, ISSUER, type Verdict } from './accountTokens.ts';

/** The audiences of this server. */
const HERE = [ISSUER];

export interface Bearers extends Authenticator {
  /** For a TokenReview: also accepts tokens issued for other audiences. */
  judge(token: string, audiences: readonly string[]): Verdict;
}

export function bearers(users: Authenticator, tokens: AccountTokens): Bearers {
  const judge = (token: string, audiences: readonly string[]): Verdict => {
    const known = HERE.filter((audience) => audiences.includes(audience));
    const user = known.length > 0 ? users.user(token) : undefined;
    return user ? { kind: 'user', user, audiences: known } : tokens.judge(token, audiences);
  };
  return {
    judge,
    user: (token) => {
      const verdict = judge(token, HERE);
      return verdict.kind === 'user' ? verdict.user : undefined;
    },
  };
}

/** The audiences of a review; default: those of this server. */
export const audiencesOf = (named: readonly string[]): readonly string[] =>
  named.length === 0 ? HERE : named;
