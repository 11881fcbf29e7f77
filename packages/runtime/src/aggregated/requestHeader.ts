// Request header authentication. The kube-apiserver presents a client certificate of the front proxy's authority and
// names the user in headers. Every cluster publishes the authority and the header names in a ConfigMap
// (kube-system/extension-apiserver-authentication).

import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import type { Peer } from '../host/peer.ts';

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export interface FrontProxy {
  /** PEM: the authority that signs the front proxy's certificate. */
  readonly authority: string;
  /** Allowed common names of the proxy's certificate. Empty: any certificate of the authority. */
  readonly allowedNames: readonly string[];
  /** Lower case, in order of preference. */
  readonly userHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

export const AUTHENTICATION = {
  namespace: 'kube-system',
  name: 'extension-apiserver-authentication',
} as const;

/** The cluster publishes no front proxy, so no user can be authenticated. */
export class NoFrontProxyError extends Error {}

export async function readFrontProxy(client: Pick<Client, 'get'>): Promise<FrontProxy> {
  const published = await client.get(ConfigMap, AUTHENTICATION);
  if (published === undefined)
    throw new NoFrontProxyError(`there is no ConfigMap ${AUTHENTICATION.namespace}/${AUTHENTICATION.name}`);
  return parseFrontProxy(published.data ?? {});
}

/** Throws NoFrontProxyError if the ConfigMap contains no CA of a front proxy. */
export function parseFrontProxy(data: Readonly<Record<string, string>>): FrontProxy {
  const authority = data['requestheader-client-ca-file'] ?? '';
  if (authority.trim() === '')
    throw new NoFrontProxyError(
      'ConfigMap kube-system/extension-apiserver-authentication has no requestheader-client-ca-file',
    );
  const list = (field: string): string[] => {
    const text = data[field];
    if (text === undefined || text === '') return [];
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value) || value.some((item) => typeof item !== 'string'))
      throw new Error(`${field} is not a list of strings`);
    return value as string[];
  };
  const names = (field: string) => list(field).map((name) => name.toLowerCase());
  return {
    authority,
    allowedNames: list('requestheader-allowed-names'),
    userHeaders: names('requestheader-username-headers'),
    uidHeaders: names('requestheader-uid-headers'),
    groupHeaders: names('requestheader-group-headers'),
    extraPrefixes: names('requestheader-extra-headers-prefix'),
  };
}

/** Returns undefined if the peer is not the front proxy or names no user. Headers of other peers are ignored. */
export function authenticate(proxy: FrontProxy, peer: Peer): User | undefined {
  if (!peer.verified) return undefined;
  if (proxy.allowedNames.length > 0 && !proxy.allowedNames.includes(peer.commonName ?? '')) return undefined;
  const first = (names: readonly string[]) =>
    names.map((name) => peer.headers(name)[0] ?? '').find((value) => value !== '');
  const name = first(proxy.userHeaders);
  if (name === undefined) return undefined;
  const uid = first(proxy.uidHeaders);
  return {
    name,
    ...(uid === undefined ? {} : { uid }),
    groups: proxy.groupHeaders.flatMap((header) => peer.headers(header)),
    extra: extraOf(proxy, peer),
  };
}

function extraOf({ extraPrefixes }: FrontProxy, peer: Peer): Record<string, readonly string[]> {
  const extra: [string, readonly string[]][] = [];
  for (const header of peer.headerNames()) {
    const prefix = extraPrefixes.find((candidate) => header.startsWith(candidate));
    if (prefix === undefined) continue;
    extra.push([decodeKey(header.slice(prefix.length)), peer.headers(header)]);
  }
  return Object.fromEntries(extra);
}

/** Keys are percent-encoded, since header names allow few characters. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
