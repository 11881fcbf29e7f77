// Tokens of service accounts: signed claims, as the real server issues them, good for as long as they say and the
// account lives.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject, type JsonObject } from '#api/json';
import type { KubeObject } from '#api/object';
import type { Clock } from '#base/clock';
import { type Random, uuid } from '#base/random';
import type { UserInfo } from '../resources/resource.ts';
import type { Store } from '../store/store.ts';

const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const HEADER = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url');

export interface TokenSource {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  /** Whoever knows it can be anybody. */
  readonly key: Uint8Array;
}

export class AccountTokens {
  readonly #source: TokenSource;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  issue(account: KubeObject, lengthSeconds: number, audiences: readonly string[]): string {
    const { clock, random } = this.#source;
    const { name = '', namespace = '', uid = '' } = account.metadata;
    const now = Math.floor(clock.now() / 1000);
    const claims = {
      aud: audiences.length === 0 ? [ISSUER] : [...audiences],
      exp: now + lengthSeconds,
      iat: now,
      iss: ISSUER,
      jti: uuid(random),
      'kubernetes.io': { namespace, serviceaccount: { name, uid } },
      nbf: now,
      sub: usernameOf(namespace, name),
    };
    const body = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
    return `${body}.${this.#sign(body)}`;
  }

  /** Whose token it is; undefined when it is none of ours, has ended, or its account is gone. */
  user(token: string): UserInfo | undefined {
    const claims = this.#verified(token);
    if (claims === undefined) return undefined;
    const now = this.#source.clock.now() / 1000;
    const { exp, nbf, jti } = claims;
    if (typeof exp !== 'number' || typeof nbf !== 'number' || now >= exp || now < nbf) return undefined;
    const place = isObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
    const account = isObject(place['serviceaccount']) ? place['serviceaccount'] : {};
    const { namespace } = place;
    const { name, uid } = account;
    if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string')
      return undefined;
    const stored = this.#source.store.get('serviceaccounts', `${namespace}/${name}`);
    if (stored?.object.metadata.uid !== uid) return undefined;
    return {
      username: usernameOf(namespace, name),
      uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${String(jti)}`] },
    };
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
