// Detects Node versions that treat a resumed TLS 1.3 session as authenticated although the client never presented a
// certificate. Node 20 does; hosts that authenticate by client certificates must not run on it.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type TLSSocket } from 'node:tls';
import type { KeyPair } from './certificate.ts';

/** The host cannot authenticate clients on this Node version. */
export class UnsafeNodeError extends Error {}

/** Throws UnsafeNodeError if resumed sessions count as authenticated. `trusts` is the self-test, replaceable in tests. */
export async function requireSafeResumption(
  pair: KeyPair,
  trusts: (pair: KeyPair) => Promise<boolean> = trustsResumedSessions,
): Promise<void> {
  if (await trusts(pair))
    throw new UnsafeNodeError(
      `Node ${process.version} accepts resumed TLS sessions without a client certificate; run Lapse on Node 24.12 or newer`,
    );
}

/** Connects twice to a loopback server without a client certificate, the second time with the session of the first. */
export async function trustsResumedSessions(pair: KeyPair): Promise<boolean> {
  let authorized = false;
  const server = createServer(
    { ...pair, ca: pair.cert, minVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: false },
    (socket) => {
      authorized ||= socket.authorized;
      socket.on('error', () => {});
      socket.end('.');
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    const session = await visit(server);
    if (session !== undefined) await visit(server, session);
    return authorized;
  } finally {
    server.close();
  }
}

/** Opens one connection and resolves with the session that the server offered. */
function visit(server: Server, session?: Buffer): Promise<Buffer | undefined> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    let offered: Buffer | undefined;
    // The server's identity is not verified: it is the local server above, and no data is sent.
    const socket: TLSSocket = connect({
      host: '127.0.0.1',
      port,
      rejectUnauthorized: false,
      ...(session === undefined ? {} : { session }),
    });
    socket.on('session', (next: Buffer) => {
      offered = next;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(offered));
    socket.resume();
  });
}
