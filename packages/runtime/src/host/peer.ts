// The caller of a request: its verified client certificate and its headers.

import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { headerText } from '@lapse/kube/api/headerText';

/** The caller of one request. Repeated headers stay separate, because a comma in a joined value is ambiguous. */
export interface Peer {
  /** The caller presented a certificate of the `clientAuthority` on this connection. */
  readonly verified: boolean;
  readonly commonName?: string;
  headers(name: string): readonly string[];
  headerNames(): readonly string[];
}

/** The parts of a TLS connection that identify the client. */
export type ClientSide = Pick<TLSSocket, 'authorized' | 'isSessionReused' | 'getPeerX509Certificate'>;

/**
 * Whether the client proved the possession of a certificate on this connection. `authorized` alone is not a proof: some
 * Node versions set it for resumed TLS 1.3 sessions of clients that never presented a certificate.
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
