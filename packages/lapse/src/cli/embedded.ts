// Assembles an embedded API server for a command: data directory, store, certificates, tokens, kubeconfig, socket.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { httpsOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { type LocalService, localOutbound } from '@lapse/apiserver/aggregation/localOutbound';
import { parseTokenFile, tokenAuthenticator } from '@lapse/apiserver/authn/auth';
import { frontProxyCertificate, servingCertificate } from '@lapse/apiserver/authn/certificates';
import { type Listener, listen } from '@lapse/apiserver/http/listen';
import type { UserInfo } from '@lapse/apiserver/resources/resource';
import { type ApiServer, createServer } from '@lapse/apiserver/server';
import { openSqliteJournal } from '@lapse/apiserver/store/sqlite';
import { Store } from '@lapse/apiserver/store/store';
import { type Clock, realClock } from '@lapse/base/clock';
import { PrivateFileError, readPrivate, writePrivate } from '@lapse/base/privateFile';
import { systemRandom } from '@lapse/base/random';
import type { HttpHandler } from '@lapse/kube/api/http';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import { explained, UsageError } from '#manager/usage';
import { makeDirectory } from './directories.ts';

export interface EmbeddedOptions {
  readonly data: string;
  readonly store: 'sqlite' | 'memory';
  readonly host: string;
  readonly port: number;
  readonly kubeconfigOut: string;
  readonly tokenAuthFile?: string;
  readonly authorization?: 'AlwaysAllow' | 'RBAC';
  /** The clock for timestamps of objects. Certificates always use the real time. */
  readonly clock?: Clock;
  /** In-process backends of Services, by `<name>.<namespace>.svc`. */
  readonly services?: Readonly<Record<string, LocalService>>;
  /** Wraps the handler: sees every request and response. */
  readonly around?: (handle: HttpHandler, token: string) => HttpHandler;
  readonly onUnexpected: (cause: unknown) => void;
}

export interface Embedded {
  readonly server: ApiServer;
  readonly listener: Listener;
  readonly kubeconfig: string;
  /** The administrator's token. */
  readonly token: string;
  readonly close: () => Promise<void>;
}

export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { clock = realClock } = options;
  const data = resolve(options.data);
  explained(`--data ${options.data}`, () => makeDirectory(data, 0o700));
  const admin = explained(`--data ${options.data}`, () => adminToken(data));
  const tokens = readTokens(options.tokenAuthFile, admin);
  const hosts = [...new Set(['127.0.0.1', '::1', 'localhost', options.host])].filter(
    (h) => h !== '0.0.0.0' && h !== '::',
  );
  const [store, certificate, frontProxy] = await Promise.all([
    openStore(data, options.store, clock),
    servingCertificate(data, hosts, realClock.now()),
    frontProxyCertificate(data, realClock.now()),
  ]).catch((cause: unknown) => {
    throw cause instanceof PrivateFileError
      ? new UsageError(`--data ${options.data}: ${cause.message}`)
      : cause;
  });
  const server = await createServer({
    store,
    clock,
    random: systemRandom,
    authenticator: tokenAuthenticator(tokens),
    ...(options.authorization === undefined ? {} : { authorization: options.authorization }),
    tokenKey: Buffer.from(admin),
    outbound: localOutbound(options.services ?? {}, httpsOutbound),
    frontProxy,
    onUnexpected: options.onUnexpected,
  });
  try {
    return await open(options, server, { certificate, admin });
  } catch (cause) {
    await server.close();
    throw cause;
  }
}

interface Keys {
  readonly certificate: Awaited<ReturnType<typeof servingCertificate>>;
  readonly admin: string;
}

/** Opens a socket and writes a kubeconfig for it. */
async function open(
  options: EmbeddedOptions,
  server: ApiServer,
  { certificate, admin }: Keys,
): Promise<Embedded> {
  const listener = await bind(options, options.around?.(server.handle, admin) ?? server.handle, certificate);
  const kubeconfig = resolve(options.kubeconfigOut);
  const close = async () => {
    // Watches are closed first. Otherwise their connections would keep the listener open.
    const stopped = server.close();
    await listener.close();
    await stopped;
  };
  try {
    await server.advertise(listener);
    explained(`--kubeconfig-out ${options.kubeconfigOut}`, () => {
      makeDirectory(dirname(kubeconfig));
      writePrivate(
        kubeconfig,
        renderKubeconfig({ server: listener.url, ca: certificate.ca, token: admin, name: 'lapse' }),
      );
    });
  } catch (cause) {
    await listener.close();
    throw cause;
  }
  return { server, listener, kubeconfig, token: admin, close };
}

async function openStore(data: string, kind: EmbeddedOptions['store'], clock: Clock): Promise<Store> {
  if (kind === 'memory') return Store.inMemory(clock);
  const file = join(data, 'lapse.db');
  try {
    return await Store.open(clock, await openSqliteJournal(file));
  } catch (cause) {
    const { message } = cause as Error;
    const busy = /locked|busy/i.test(message);
    throw new UsageError(
      busy ? `${file} is in use by another process of Lapse; choose another --data directory` : message,
    );
  }
}

async function bind(
  options: EmbeddedOptions,
  handle: HttpHandler,
  tls: { cert: string; key: string },
): Promise<Listener> {
  try {
    return await listen(handle, { host: options.host, port: options.port, tls });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new UsageError(
        `port ${options.port} on ${options.host} is taken; choose another --port (0 picks a free one)`,
      );
    if (code === undefined) throw cause;
    throw new UsageError(`cannot listen on --host ${options.host}, --port ${options.port}: ${message}`);
  }
}

/** Created on the first start. */
function adminToken(data: string): string {
  const file = join(data, 'token');
  if (!existsSync(file)) writePrivate(file, Buffer.from(systemRandom.bytes(32)).toString('base64url'));
  return readPrivate(file).trim();
}

/** The administrator, and the users of a token file. */
function readTokens(tokenAuthFile: string | undefined, admin: string): Map<string, UserInfo> {
  const tokens = tokenAuthFile
    ? explained(`--token-auth-file ${tokenAuthFile}`, () =>
        parseTokenFile(readFileSync(tokenAuthFile, 'utf8')),
      )
    : new Map<string, UserInfo>();
  return tokens.set(admin, { username: 'lapse-admin', groups: ['system:masters', 'system:authenticated'] });
}
