// Creates a transport and credentials from Connection data. Certificates and tokens may change while the process runs.

import type { Clock } from '@lapse/base/clock';
import type { AuthMethod, Connection } from './connection.ts';
import {
  type Auth,
  anonymous,
  basic,
  bearer,
  type Credentials,
  fixedCredentials,
  impersonating,
} from './credentials.ts';
import type { TlsOptions } from './dispatchers.ts';
import { execPlugin } from './execPlugin.ts';
import { watchMaterial } from './material.ts';
import { tokenFile } from './tokenFile.ts';
import { type UndiciOptions, type UndiciTransport, undiciTransport } from './undici.ts';

export interface ConnectOptions extends Omit<UndiciOptions, 'server' | 'tls' | 'proxyUrl'> {
  readonly clock: Clock;
  /** For credential plugins. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A user is at the terminal, so a plugin may prompt. */
  readonly interactive?: boolean;
}

export interface Connected {
  readonly transport: UndiciTransport;
  readonly credentials: Credentials;
}

function credentialsFor(auth: AuthMethod, options: ConnectOptions): Credentials {
  switch (auth.kind) {
    case 'none':
      return anonymous;
    case 'token':
      return fixedCredentials({ headers: bearer(auth.token) });
    case 'basic':
      return fixedCredentials({ headers: basic(auth.username, auth.password) });
    case 'tokenFile':
      return tokenFile({ ...auth, clock: options.clock });
    case 'exec':
      return execPlugin(auth.exec, options);
  }
}

/** A transport that checks its certificates before each request. New certificates open new connections. */
function rotating(
  current: () => TlsOptions | Promise<TlsOptions>,
  build: (tls: TlsOptions) => UndiciTransport,
): UndiciTransport {
  let made: { tls: TlsOptions; transport: UndiciTransport } | undefined;
  const retired = new Set<UndiciTransport>();
  // Requests on the old connections may finish there.
  const retire = (old: UndiciTransport): void => {
    retired.add(old);
    void old.retire().then(() => retired.delete(old));
  };
  const select = (tls: TlsOptions): UndiciTransport => {
    if (made?.tls !== tls) {
      if (made !== undefined) retire(made.transport);
      made = { tls, transport: build(tls) };
    }
    return made.transport;
  };
  const transport = async () => select(await current());
  const all = () => [...retired, ...(made === undefined ? [] : [made.transport])];
  return {
    request: async (request) => (await transport()).request(request),
    stream: async (request) => (await transport()).stream(request),
    warm: async (connections) => (await transport()).warm(connections),
    retire: async () => void (await Promise.all(all().map((one) => one.retire()))),
    close: async () => void (await Promise.all(all().map((one) => one.close()))),
  };
}

/** The certificates of the connection, or those of the credentials. */
function combine(
  material: () => TlsOptions | Promise<TlsOptions>,
  credentials: Credentials,
): () => Promise<TlsOptions> {
  let last: { tls: TlsOptions; auth: Auth; both: TlsOptions } | undefined;
  return async () => {
    const tls = await material();
    const auth = await credentials.current();
    if (last?.tls !== tls || last.auth.cert !== auth.cert || last.auth.key !== auth.key) {
      const { cert, key } = auth;
      const both = cert === undefined || key === undefined ? tls : { ...tls, cert, key };
      last = { tls, auth, both };
    }
    return last.both;
  };
}

/** Reads and checks certificates immediately. Tokens and plugins are loaded at the first request. */
export async function connect(connection: Connection, options: ConnectOptions): Promise<Connected> {
  const { server, proxyUrl, auth, impersonate } = connection;
  const material = await watchMaterial(connection, options.clock);
  const plain = credentialsFor(auth, options);
  const build = (tls: TlsOptions) =>
    undiciTransport({ ...options, server, tls, ...(proxyUrl === undefined ? {} : { proxyUrl }) });
  const current = auth.kind === 'exec' ? combine(material, plain) : material;
  return {
    transport: rotating(current, build),
    credentials: impersonate === undefined ? plain : impersonating(plain, impersonate),
  };
}
