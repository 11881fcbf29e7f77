// The two ways to reach a server: its handler in this process, or a socket.

import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { HttpHandler, HttpRequest, HttpResponse } from '@lapse/kube/api/http';
import type { Target } from './types.ts';

type Access = Pick<Target, 'name' | 'adminToken' | 'nobodyToken' | 'compact'>;

export const inProcessTarget = (handle: HttpHandler, access: Access): Target => ({
  ...access,
  request: handle,
});

export interface Address {
  readonly url: string;
  /** The certificate to trust, PEM. */
  readonly ca?: string | undefined;
  readonly caFile?: string | undefined;
}

/** Keeps connections alive, but gives each watch its own connection, which is closed with it. */
export function socketTarget(address: Address, access: Access): Target & { close(): Promise<void> } {
  const url = new URL(address.url);
  const secure = url.protocol === 'https:';
  const lib = secure ? https : http;
  const ca = address.ca ?? (address.caFile === undefined ? undefined : readFileSync(address.caFile, 'utf8'));
  const agent = new lib.Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }) });
  const base = {
    hostname: url.hostname,
    port: url.port || (secure ? 443 : 80),
    ...(ca === undefined ? {} : { ca }),
  };
  const prefix = url.pathname.replace(/\/$/, '');
  const send = (request: HttpRequest, retry: boolean): Promise<HttpResponse> =>
    new Promise((resolve, reject) => {
      const isWatch = /[?&]watch=/.test(request.path);
      const options = {
        ...base,
        path: prefix + request.path,
        method: request.method,
        headers: { ...request.headers } as OutgoingHttpHeaders,
        agent: isWatch ? false : agent,
      };
      let answered = false;
      const outgoing = lib.request(options, (incoming) => {
        answered = true;
        resolve(responseOf(incoming));
      });
      request.signal?.addEventListener('abort', () => outgoing.destroy(), { once: true });
      outgoing.on('error', (e: NodeJS.ErrnoException) => {
        if (answered) return; // for example an early answer to a body that was too long
        // The server had closed an idle connection.
        if (retry && outgoing.reusedSocket && e.code === 'ECONNRESET')
          send(request, false).then(resolve, reject);
        else reject(e);
      });
      outgoing.end(request.body);
    });
  return {
    ...access,
    request: (request) => send(request, true),
    close: async () => agent.destroy(),
  };
}

const responseOf = (incoming: IncomingMessage): HttpResponse => ({
  status: incoming.statusCode ?? 0,
  headers: Object.fromEntries(
    Object.entries(incoming.headersDistinct).map(([name, values]) => [name, oneOrMany(values ?? [])]),
  ),
  body: incoming,
});

const oneOrMany = (values: string[]) => (values.length === 1 ? values[0]! : values);

/** A real server of the test bed. */
export const bedTarget = (bed: {
  readonly url: string;
  readonly caFile: string;
  readonly adminToken: string;
  readonly nobodyToken: string;
  compact(): Promise<void>;
}): Target & { close(): Promise<void> } =>
  socketTarget(
    { url: bed.url, caFile: bed.caFile },
    {
      name: 'kube-apiserver',
      adminToken: bed.adminToken,
      nobodyToken: bed.nobodyToken,
      compact: () => bed.compact(),
    },
  );
