// Who is at the other end of a connection: whether it showed a certificate, and its headers one by one.

import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { headerText } from '@lapse/kube/api/headerText';

/** The caller of one request. Headers are kept apart: joined, a comma in one value could pass for two values. */
export interface Peer {
  /** The caller showed a certificate of the `clientAuthority` on this very connection. */
  readonly verified: boolean;
  readonly commonName?: string;
  headers(name: string): readonly string[];
  headerNames(): readonly string[];
}

/** The parts of a TLS connection that say who the client is. */
export type ClientSide = Pick<TLSSocket, 'authorized' | 'isSessionReused' | 'getPeerX509Certificate'>;

/**
 * Whether the client proved the possession of a certificate on this connection. `authorized` alone is not a proof: some
 * versions of Node set it for resumed TLS 1.3 sessions of clients that never showed a certificate.
 */
export const isVerified = (socket: ClientSide): boolean =>
  socket.authorized && !socket.isSessionReused() && socket.getPeerX509Certificate() !== undefined;

export function peerOf(request: IncomingMessage): Peer {
  const { socket, headersDistinct } = request;
  const verified = socket instanceof TLSSocket && isVerified(socket);
  const name = verified ? socket.getPeerCertificate().subject?.CN : undefined;
  const commonName = Array.isArray(name) ? name[0] : name;
  return {
    verified,
    ...(commonName === undefined ? {} : { commonName }),
    headers: (header) =>
      Object.hasOwn(headersDistinct, header) ? (headersDistinct[header] ?? []).map(headerText) : [],
    headerNames: () => Object.keys(headersDistinct),
  };
}
