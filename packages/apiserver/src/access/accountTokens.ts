// Service account tokens: signed claims in the form that kube-apiserver issues. A token is valid until it expires,
// for its audiences, and while the account and the bound object exist.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@lapse/base/clock';
import { parseTime } from '@lapse/base/instant';
import { type Random, uuid } from '@lapse/base/random';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { keyOf, type UserInfo } from '../resources/resource.ts';
import type { Store } from '../store/store.ts';

/** The issuer of the tokens, and the only audience of this server. */
export const ISSUER = 'https://kubernetes.default.svc.cluster.local';
// Seconds of tolerance for clock skew: a token stays valid this long after its expiry, and after the deletion of its
// account or bound object began.
const LEEWAY = 60;
const HEADER = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url');

export interface TokenSource {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  /** Secret: a holder of the key can impersonate every account. */
  readonly key: Uint8Array;
}

/** An object by name and uid, as in the claims. A node that does not exist has no uid. */
export interface ObjectClaim {
  readonly name: string;
  readonly uid?: string;
}

/** The objects a token is bound to. The node of a Pod is informational. */
export type Bound = Readonly<Partial<Record<'pod' | 'secret' | 'node', ObjectClaim>>>;

export interface Issued {
  readonly lengthSeconds: number;
  readonly audiences: readonly string[];
  readonly bound?: Bound;
}

/** `foreign`: not signed by this server, so another authenticator may know the token. */
export type TokenResult =
  | { readonly kind: 'user'; readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'foreign' };

export class AccountTokens {
  readonly #source: TokenSource;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  issue(account: KubeObject, { lengthSeconds, audiences, bound = {} }: Issued): string {
    const { clock, random } = this.#source;
    const { name = '', namespace = '', uid = '' } = account.metadata;
    const now = Math.floor(clock.now() / 1000);
    const claims = {
      aud: [...audiences],
      exp: now + lengthSeconds,
      iat: now,
      iss: ISSUER,
      jti: uuid(random),
      'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...bound },
      nbf: now,
      sub: usernameOf(namespace, name),
    };
    const body = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    return `${body}.${this.#sign(body)}`;
  }

  /** Authenticates a token for any of these audiences. */
  authenticate(token: string, audiences: readonly string[]): TokenResult {
    const claims = this.#verified(token);
    if (claims === undefined) return { kind: 'foreign' };
    const meant = texts(claims['aud']);
    const shared = meant.filter((audience) => audiences.includes(audience));
    if (shared.length === 0) {
      const text = `token audiences ${quoted(meant)} is invalid for the target audiences ${quoted(audiences)}`;
      return { kind: 'refused', why: text };
    }
    const place = part(claims, 'kubernetes.io');
    const why = this.#ended(claims) ?? this.#missing(place);
    if (why !== undefined) return { kind: 'refused', why };
    return { kind: 'user', user: userOf(place, String(claims['jti'])), audiences: shared };
  }

  #ended({ exp, nbf }: JsonObject): string | undefined {
    const now = this.#source.clock.now() / 1000;
    if (typeof exp !== 'number' || now - LEEWAY > exp) return 'service account token has expired';
    return typeof nbf !== 'number' || now + LEEWAY < nbf
      ? 'service account token is not valid yet'
      : undefined;
  }

  /** Why the account or a bound object no longer exists. */
  #missing(place: JsonObject): string | undefined {
    const namespace = String(place['namespace']);
    const claim = (name: string) => claimOf(place, name);
    const account = claim('serviceaccount');
    if (account === undefined) return 'service account token has been invalidated';
    const present = this.#present('serviceaccounts', keyOf(namespace, account.name));
    if (present === undefined) return `serviceaccounts ${JSON.stringify(account.name)} not found`;
    const { uid, isGone } = present;
    if (uid !== account.uid) return `service account UID (${uid}) does not match claim (${account.uid})`;
    if (isGone) return `service account ${namespace}/${account.name} has been deleted`;
    const [secret, pod] = [claim('secret'), claim('pod')];
    return (
      this.#unbound('secret', secret, secret && keyOf(namespace, secret.name)) ??
      this.#unbound('pod', pod, pod && keyOf(namespace, pod.name)) ??
      (pod === undefined ? this.#unbound('node', claim('node'), claim('node')?.name) : undefined)
    );
  }

  #unbound(kind: string, claim: ObjectClaim | undefined, key: string | undefined): string | undefined {
    if (claim === undefined || key === undefined) return undefined;
    const present = this.#present(`${kind}s`, key);
    if (present === undefined || present.isGone) return 'service account token has been invalidated';
    const { uid } = present;
    return uid === claim.uid
      ? undefined
      : `${kind} UID (${uid}) does not match service account ${kind} ref claim (${claim.uid})`;
  }

  #present(table: string, key: string): { uid: string; isGone: boolean } | undefined {
    const { clock, store } = this.#source;
    const metadata = store.get(table, key)?.object.metadata;
    if (metadata === undefined) return undefined;
    const { uid = '', deletionTimestamp: since } = metadata;
    return { uid, isGone: since !== undefined && parseTime(since) < clock.now() - LEEWAY * 1000 };
  }

  #verified(token: string): JsonObject | undefined {
    const [header, claims, signature, more] = token.split('.');
    if (header !== HEADER || claims === undefined || signature === undefined || more !== undefined)
      return undefined;
    const expected = Buffer.from(this.#sign(`${header}.${claims}`));
    const given = Buffer.from(signature);
    if (expected.length !== given.length || !timingSafeEqual(expected, given)) return undefined;
    const value = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as unknown;
    return isObject(value) ? value : undefined;
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#source.key).update(body).digest('base64url');
  }
}

const usernameOf = (namespace: string, name: string): string => `system:serviceaccount:${namespace}:${name}`;

function userOf(place: JsonObject, jti: string): UserInfo {
  const namespace = String(place['namespace']);
  const account = claimOf(place, 'serviceaccount')!;
  const extra: Record<string, readonly string[]> = {
    'authentication.kubernetes.io/credential-id': [`JTI=${jti}`],
  };
  for (const kind of ['node', 'pod']) {
    const claim = claimOf(place, kind);
    if (claim) extra[`authentication.kubernetes.io/${kind}-name`] = [claim.name];
    if (claim?.uid) extra[`authentication.kubernetes.io/${kind}-uid`] = [claim.uid];
  }
  return {
    username: usernameOf(namespace, account.name),
    ...(account.uid === undefined ? {} : { uid: account.uid }),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra,
  };
}

const part = (value: JsonObject, name: string): JsonObject => {
  const inner = value[name];
  return isObject(inner) ? inner : {};
};

function claimOf(place: JsonObject, kind: string): ObjectClaim | undefined {
  const { name, uid } = part(place, kind);
  if (typeof name !== 'string') return undefined;
  return { name, ...(typeof uid === 'string' ? { uid } : {}) };
}

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** A list of strings as Go prints it. */
const quoted = (items: readonly string[]): string =>
  `[${items.map((item) => JSON.stringify(item)).join(' ')}]`;
