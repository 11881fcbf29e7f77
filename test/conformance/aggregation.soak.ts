// The embedded server proxies a large answer of an aggregated API in bounded memory: while the client does not read, it
// reads no more from the API; when the client reads, every byte arrives.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpsOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { servingCertificate } from '@lapse/apiserver/authn/certificates';
import { realClock } from '@lapse/base/clock';
import type { JsonObject } from '@lapse/kube/api/json';
import { expect, test, vi } from 'vitest';
import { startEmbeddedSocket } from './embeddedSocket.ts';
import { asker } from './model/ask.ts';

const BASE = '/apis/large.example.com/v1';
const PIECE = Buffer.alloc(64 << 10, 'x');
const PIECES = 1024; // 64 MiB
// Sockets and streams buffer some data at each of four stages.
const MOST_AHEAD = 16 << 20;

/** Counts the bytes it was asked for. */
async function startLarge() {
  const directory = mkdtempSync(join(tmpdir(), 'lapse-large-'));
  const tls = await servingCertificate(directory, ['large.default.svc'], realClock.now());
  const made = { bytes: 0 };
  function* pieces() {
    for (let i = 0; i < PIECES; i++) {
      made.bytes += PIECE.length;
      yield PIECE;
    }
  }
  const server = createServer({ cert: tls.cert, key: tls.key }, (request, response) => {
    if (!request.url!.endsWith('/all')) response.end('{}');
    else Readable.from(pieces(), { objectMode: false }).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
      rmSync(directory, { recursive: true, force: true });
    });
  const { port } = server.address() as AddressInfo;
  return { port, made, close, caBundle: Buffer.from(tls.ca).toString('base64') };
}

/** The count, once it has been constant for a while. */
async function stalled(count: () => number): Promise<number> {
  for (let last = -1, same = 0; ; ) {
    await sleep(50);
    same = count() === last ? same + 1 : 0;
    last = count();
    if (same === 10) return last;
  }
}

test('does not read ahead of the client, and loses nothing', async () => {
  const large = await startLarge();
  const embedded = await startEmbeddedSocket({ outbound: httpsOutbound });
  const ask = asker(embedded.target);
  await ask('POST', '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'large' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  });
  const { port, caBundle } = large;
  const spec = { group: 'large.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
  const name = 'v1.large.example.com';
  const services = '/apis/apiregistration.k8s.io/v1/apiservices';
  await ask('POST', services, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name },
    spec: { ...spec, caBundle, service: { name: 'large', namespace: 'default', port } },
  });
  await vi.waitFor(
    async () => {
      const { body } = await ask('GET', `${services}/${name}`);
      expect((body as JsonObject)['status']).toMatchObject({ conditions: [{ status: 'True' }] });
    },
    { timeout: 30_000, interval: 50 },
  );

  const { target } = embedded;
  const headers = { authorization: `Bearer ${target.adminToken}` };
  const { body } = await target.request({ method: 'GET', path: `${BASE}/walls/w/all`, headers });
  expect(await stalled(() => large.made.bytes)).toBeLessThan(MOST_AHEAD);
  let received = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    received += chunk.length;
    if (large.made.bytes - received > MOST_AHEAD) throw new Error(`${large.made.bytes} for ${received}`);
  }
  expect(received).toBe(PIECE.length * PIECES);
  await embedded.close();
  await large.close();
});
