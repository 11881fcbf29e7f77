// An extension API server behind HTTPS on loopback. It accepts every client, records the user of each request, and
// serves only the older form of discovery.

import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { servingCertificate } from '@lapse/apiserver/authn/certificates';
import { realClock } from '@lapse/base/clock';

export const GROUP = 'stranger.example.com';
export const SERVICE = { name: 'stranger', namespace: 'default' };

export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
  /** The request had a client certificate. */
  readonly certified: boolean;
}

export interface ExtensionServer {
  readonly port: number;
  /** base64 of the PEM, as in caBundle. */
  readonly caBundle: string;
  readonly calls: Call[];
  /** From now on it does not answer. */
  close(): Promise<void>;
}

const RESOURCES = [
  { name: 'reports', singularName: 'report', namespaced: true, kind: 'Report', verbs: ['get', 'list'] },
  { name: 'reports/pages', singularName: '', namespaced: true, kind: 'Page', verbs: ['get'] },
  {
    name: 'walls',
    singularName: 'wall',
    namespaced: false,
    kind: 'Wall',
    verbs: ['create', 'get'],
    shortNames: ['wl'],
    categories: ['all'],
  },
];

const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  [`/apis/${GROUP}/v1`]: (response) =>
    json(response, 200, {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: `${GROUP}/v1`,
      resources: RESOURCES,
    }),
  [`/apis/${GROUP}/v1/walls`]: (response) => json(response, 201, { kind: 'Wall', painted: true }),
  [`/apis/${GROUP}/v1/walls/away`]: (response) =>
    response.writeHead(302, { location: 'https://example.org/' }).end(),
  [`/apis/${GROUP}/v1/walls/teapot`]: (response) => {
    response.setHeader('x-stranger', ['one', 'two']);
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('cache-control', 'max-age=1');
    response.writeHead(418, { 'content-type': 'text/plain' }).end('short and stout');
  },
  [`/apis/${GROUP}/v1/walls/pieces`]: (response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (const n of [1, 2, 3]) response.write(`piece ${n}\n`);
    response.end();
  },
};

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export async function startExtensionServer(): Promise<ExtensionServer> {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-stranger-'));
  const host = `${SERVICE.name}.${SERVICE.namespace}.svc`;
  const tls = await servingCertificate(directory, [host], realClock.now());
  const calls: Call[] = [];
  const options = { cert: tls.cert, key: tls.key, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, (request, response) => void answer(calls, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(tls.ca).toString('base64'),
    calls,
    close: async () => {
      await closed(server);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function answer(calls: Call[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const url = request.url!;
  const certified = (request.socket as TLSSocket).getPeerCertificate().subject !== undefined;
  const headers = request.headersDistinct as Record<string, string[]>;
  calls.push({ method: request.method!, url, headers, body: Buffer.concat(chunks).toString(), certified });
  const found = ANSWERS[url.split('?')[0]!];
  if (found) found(response);
  else json(response, 404, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, message: url });
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    if (!server.listening) return resolve();
    server.close(() => resolve());
    server.closeAllConnections();
  });
