import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@lapse/base/virtualClock';
import { selfSigned } from '@lapse/kube/client/certificate.testkit';
import { describe, expect, test } from 'vitest';
import { openCertificate } from './certificate.ts';
import { cleanup, closeHostsAfterEach, openHost } from './host.testkit.ts';
import { text } from './listen.ts';
import { statusHandler } from './status.ts';

closeHostsAfterEach();

function ask(
  port: number,
  options: { method?: string; path?: string; body?: Buffer; ca?: string } = {},
): Promise<{ status: number; body: string; cert: string }> {
  const { method = 'GET', path = '/', body, ca } = options;
  return new Promise((resolve, reject) => {
    const common = { host: '127.0.0.1', port, method, path, agent: false as const };
    const request = ca === undefined ? plainRequest(common) : tlsRequest({ ...common, ca });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, body: Buffer.concat(chunks).toString(), cert: '' }),
      );
    });
    request.end(body);
  });
}

describe('/healthz, /readyz, /metrics', () => {
  const state = { health: undefined as string | undefined, ready: true, problems: [] as string[] };
  const handle = statusHandler({
    health: () => state.health,
    readiness: () => state,
    metrics: () => 'a_total 1\n',
  });
  const get = async (path: string, method = 'GET') => {
    const { status, body, headers } = await handle({ method, path, headers: {} });
    return [status, Buffer.from(body as Uint8Array).toString(), headers['content-type']];
  };

  test.each<[string, Partial<typeof state>, string, number, string]>([
    ['/healthz returns 200 when healthy', {}, '/healthz', 200, 'ok\n'],
    [
      '/healthz returns 503 with the problem',
      { health: 'the lease was not renewed' },
      '/healthz',
      503,
      'the lease was not renewed\n',
    ],
    ['/readyz returns 200 when ready', {}, '/readyz?verbose', 200, 'ok\n'],
    [
      '/readyz returns 200 and lists the problem when ready despite a problem',
      { problems: ['v1/pods: watch forbidden'] },
      '/readyz',
      200,
      'ok\nv1/pods: watch forbidden\n',
    ],
    [
      '/readyz returns 503 with the problems when not ready',
      { ready: false, problems: ['v1/pods: not synced yet'] },
      '/readyz',
      503,
      'not ready\nv1/pods: not synced yet\n',
    ],
    ['/livez returns 200 when not ready', { ready: false }, '/livez', 200, 'ok\n'],
    [
      'other paths return 404',
      {},
      '/x',
      404,
      'not found; available paths: /healthz, /livez, /readyz, /metrics\n',
    ],
  ])('%s', async (_what, change, path, status, words) => {
    Object.assign(state, { health: undefined, ready: true, problems: [] }, change);
    expect((await get(path)).slice(0, 2)).toEqual([status, words]);
  });

  test('serves metrics with the content type of Prometheus', async () => {
    expect(await get('/metrics')).toEqual([200, 'a_total 1\n', 'text/plain; version=0.0.4; charset=utf-8']);
  });

  test('rejects methods other than GET and HEAD', async () => {
    expect((await get('/metrics', 'POST'))[0]).toBe(405);
  });
});

describe('host socket', () => {
  test('responds to GET with a body and to HEAD without one', async () => {
    const host = await openHost({});
    expect(await ask(host.port)).toMatchObject({ status: 200, body: 'hi\n' });
    expect(await ask(host.port, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });

  test('returns 500 when a handler throws and keeps serving', async () => {
    const errors: string[] = [];
    const host = await openHost({
      handle: async ({ path }) => {
        if (path === '/bad') throw new Error('boom');
        return text(200, 'fine');
      },
      onError: (error) => errors.push(String(error)),
    });
    expect((await ask(host.port, { path: '/bad' })).status).toBe(500);
    expect((await ask(host.port)).body).toBe('fine');
    expect(errors).toEqual(['Error: boom']);
  });
});

describe('certificates', () => {
  async function files() {
    const directory = await mkdtemp(join(tmpdir(), 'lapse-host-'));
    cleanup.push(() => rm(directory, { recursive: true }));
    const paths = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') };
    const write = async ({ cert, key }: { cert: string; key: string }) => {
      await writeFile(paths.certFile, cert);
      await writeFile(paths.keyFile, key);
    };
    return { paths, write };
  }

  test('serves HTTPS with the pair from the files and uses a new pair without a restart', async () => {
    const { paths, write } = await files();
    const [first, second] = [selfSigned('one', ['127.0.0.1']), selfSigned('two', ['127.0.0.1'])];
    await write(first);
    const certificate = await openCertificate({ ...paths, clock: new VirtualClock() });
    cleanup.push(() => certificate.close());
    const host = await openHost({ certificate });
    expect((await ask(host.port, { ca: first.cert })).body).toBe('hi\n');
    await write(second);
    await certificate.refresh();
    expect((await ask(host.port, { ca: second.cert })).body).toBe('hi\n');
    await expect(ask(host.port, { ca: first.cert })).rejects.toThrow();
  });

  test('reports files that do not match and keeps the previous pair', async () => {
    const { paths, write } = await files();
    const [first, second] = [selfSigned('one', ['127.0.0.1']), selfSigned('two', ['127.0.0.1'])];
    await write(first);
    const problems: string[] = [];
    const certificate = await openCertificate({
      ...paths,
      clock: new VirtualClock(),
      onProblem: (e) => problems.push(e.message),
    });
    cleanup.push(() => certificate.close());
    await write({ cert: second.cert, key: first.key });
    await certificate.refresh();
    await write({ cert: 'nonsense', key: first.key });
    await certificate.refresh();
    expect(problems[0]).toBe(`${paths.keyFile} does not belong to ${paths.certFile}`);
    expect(problems[1]).toContain(`${paths.certFile} is not a certificate`);
    expect(certificate.current().cert).toBe(first.cert);
  });

  test('checks the files every ten seconds', async () => {
    const { paths, write } = await files();
    const [first, second] = [selfSigned('one'), selfSigned('two')];
    await write(first);
    const clock = new VirtualClock();
    const certificate = await openCertificate({ ...paths, clock });
    cleanup.push(() => certificate.close());
    const changed = new Promise<void>((resolve) => certificate.onChange(() => resolve()));
    await write(second);
    await clock.advance(10_000 as Parameters<typeof clock.advance>[0]);
    await changed;
    expect(certificate.current().cert).toBe(second.cert);
  });

  test('throws an error that names the missing files at the start', async () => {
    await expect(
      openCertificate({ certFile: 'missing.crt', keyFile: 'missing.key', clock: new VirtualClock() }),
    ).rejects.toThrow(/missing\.crt/);
  });
});

describe('client certificates and streams', () => {
  const certificate = (pair: { cert: string; key: string }) => ({
    current: () => pair,
    onChange: () => () => {},
  });
  const authority = (pem: string) => ({ current: () => pem, onChange: () => () => {} });

  /** Returns the peer as the handler sees it. */
  async function met(clientPair?: { cert: string; key: string }) {
    const own = selfSigned('own', ['localhost']);
    const trusted = selfSigned('front-proxy');
    const host = await openHost({
      certificate: certificate(own),
      clientAuthority: authority(trusted.cert),
      handle: async (_request, peer) =>
        text(
          200,
          JSON.stringify({ verified: peer.verified, name: peer.commonName, groups: peer.headers('x-group') }),
        ),
    });
    return new Promise<object>((resolve, reject) => {
      const request = tlsRequest(
        {
          host: '127.0.0.1',
          port: host.port,
          servername: 'localhost',
          ca: own.cert,
          agent: false,
          ...clientPair,
        },
        (response) => {
          let body = '';
          response.on('data', (chunk) => (body += chunk));
          response.on('end', () => resolve(JSON.parse(body)));
        },
      );
      request.setHeader('x-group', ['a, b', Buffer.from('köche').toString('latin1')]);
      request.on('error', reject);
      request.end();
    });
  }

  test('does not verify a caller without a certificate, keeps repeated headers separate and decodes UTF-8', async () => {
    expect(await met()).toEqual({ verified: false, groups: ['a, b', 'köche'] });
  });

  test('does not verify a certificate of another CA', async () => {
    expect(await met(selfSigned('front-proxy'))).toMatchObject({ verified: false });
  });

  test('forwards a stream and closes the connection when it fails', async () => {
    async function* chunks(fails: boolean) {
      yield Buffer.from('one ');
      if (fails) throw new Error('broken');
      yield Buffer.from('two');
    }
    const errors: unknown[] = [];
    const host = await openHost({
      handle: async ({ path }) => ({ status: 200, headers: {}, body: chunks(path === '/bad') }),
      onError: (error) => errors.push(error),
    });
    expect(await ask(host.port)).toMatchObject({ status: 200, body: 'one two' });
    expect(await ask(host.port, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    await expect(
      new Promise((resolve, reject) => {
        plainRequest({ host: '127.0.0.1', port: host.port, path: '/bad', agent: false }, (response) => {
          response.on('error', reject);
          response.on('end', resolve);
          response.resume();
        })
          .on('error', reject)
          .end();
      }),
    ).rejects.toThrow();
    expect(errors).toHaveLength(1);
  });
});
