import { realClock } from '@lapse/base/clock';
import { describe, expect, it } from 'vitest';
import { httpServer, settle, tcpServer } from './testkit.ts';
import { closeAfterEach, del, failureOf, get, serve, transportTo } from './undici.testkit.ts';
import { undiciTransport } from './undici.ts';

closeAfterEach();

describe('connections', () => {
  it('200 DELETE requests with bodies keep their connections open and use only the allowed sockets', async () => {
    const server = await serve(
      httpServer((request, response) => response.end(`${request.method} ${request.text.length}`)),
    );
    const transport = transportTo(server, { connections: 4 });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => transport.request(del(`/jobs/${i}`))),
    );
    expect(new Set(answers.map((a) => Buffer.from(a.body).toString()))).toEqual(new Set(['DELETE 42']));
    expect(server.connections()).toBe(4);
  });

  // Two, because undici delivers the response just before it marks the connection as free.
  it('sequential requests share two sockets', async () => {
    const server = await serve(httpServer((_, response) => response.end('ok')));
    const transport = transportTo(server, { connections: 16 });
    for (let i = 0; i < 20; i++) await transport.request(i % 2 === 0 ? del('/a') : get('/b'));
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it('warm opens connections in advance, so that the burst opens none', async () => {
    const server = await serve(httpServer((_, response) => setImmediate(() => response.end('ok'))));
    const transport = transportTo(server, { connections: 8 });
    await transport.warm(8);
    expect(server.connections()).toBe(8);
    await Promise.all(Array.from({ length: 100 }, () => transport.request(del('/a'))));
    expect(server.connections()).toBe(8);
  });

  it('warm does not fail if the server is unreachable', async () => {
    const server = await serve(httpServer(() => {}));
    await server.close();
    await transportTo(server).warm(4);
  });

  it('watches have their own connections and never block requests', async () => {
    const server = await serve(
      httpServer((request, response) => {
        if (request.url === '/watch') response.write('{}\n');
        else response.end('ok');
      }),
    );
    const transport = transportTo(server, { connections: 1 });
    const streams = await Promise.all(Array.from({ length: 5 }, () => transport.stream(get('/watch'))));
    expect((await transport.request(get('/a'))).status).toBe(200);
    expect(server.connections()).toBe(6);
    for (const stream of streams) stream.close();
  });
});

describe('requests', () => {
  it('transfers headers, status, path prefix and repeated headers', async () => {
    const seen: unknown[] = [];
    const server = await serve(
      httpServer((request, response) => {
        seen.push(
          request.url,
          request.rawHeaders.filter((_, i, all) => /^x-|^impersonate/.test(all[i - (i % 2)]!)),
        );
        response.setHeader('warning', ['299 - "a"', '299 - "b"']);
        response.writeHead(418, { 'X-Answer': 'yes' }).end('body');
      }),
    );
    const transport = transportTo({ url: `${server.url}/k8s/clusters/c-1/` });
    const answer = await transport.request(
      get('/api/v1/pods?limit=1', { headers: { 'x-a': '1', 'impersonate-group': ['a, b', 'c'] } }),
    );
    expect(seen).toEqual([
      '/k8s/clusters/c-1/api/v1/pods?limit=1',
      ['x-a', '1', 'impersonate-group', 'a, b', 'impersonate-group', 'c'],
    ]);
    expect(answer.status).toBe(418);
    expect(answer.headers).toMatchObject({ warning: ['299 - "a"', '299 - "b"'], 'x-answer': 'yes' });
    expect(Buffer.from(answer.body).toString()).toBe('body');
  });

  it('an interim response (1xx) is ignored', async () => {
    const server = await serve(
      tcpServer((socket) =>
        socket.once('data', () =>
          socket.end(
            'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
          ),
        ),
      ),
    );
    expect((await transportTo(server).request(get('/'))).status).toBe(200);
  });

  it.each([
    ['ftp://host', 'neither http nor https'],
    ['not a url', 'not a URL'],
    ['', 'not a URL'],
  ])('rejects the server address %j', (server, problem) => {
    expect(() => undiciTransport({ server, clock: realClock })).toThrow(problem);
  });
});

describe('failures', () => {
  it('no listener: unreachable, and not sent', async () => {
    const server = await serve(tcpServer(() => {}));
    await server.close();
    expect(await failureOf(transportTo(server).request(del('/a')))).toMatchObject({
      failure: 'unreachable',
      sent: false,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it.each<[string, string, string]>([
    ['closes without a response', '', 'broken'],
    ['sends invalid HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'malformed'],
    ['stops inside the headers', 'HTTP/1.1 200 OK\r\ncontent-le', 'broken'],
    ['stops inside the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"kind":', 'broken'],
    ['stops inside a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{', 'broken'],
    ['sends invalid chunk sizes', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'malformed'],
    ['sends endless headers', `HTTP/1.1 200 OK\r\n${'x-y: '.padEnd(70_000, 'z')}\r\n\r\n`, 'malformed'],
  ])('a server that %s: the request may have been executed', async (_name, answer, failure) => {
    const server = await serve(tcpServer((socket) => socket.once('data', () => socket.end(answer))));
    expect(await failureOf(transportTo(server).request(del('/a')))).toMatchObject({ failure, sent: true });
  });

  it('a response beyond the size limit is rejected without reading all of it', async () => {
    const server = await serve(httpServer((_, response) => response.end(Buffer.alloc(1_000_000))));
    const error = await failureOf(transportTo(server, { maxResponseBytes: 1000 }).request(get('/')));
    expect(error.failure).toBe('malformed');
  });

  it('a header that would break the request is never sent', async () => {
    const server = await serve(httpServer((_, response) => response.end()));
    const bad = get('/', { headers: { 'impersonate-user': 'a\r\nx: y' } });
    expect(await failureOf(transportTo(server).request(bad))).toMatchObject({
      failure: 'unsendable',
      sent: false,
    });
    expect(await failureOf(transportTo(server).request(get('/a b')))).toMatchObject({
      failure: 'unsendable',
    });
    expect(server.connections()).toBe(0);
  });

  it('the request after a broken connection opens a new one', async () => {
    let count = 0;
    const server = await serve(
      httpServer((request, response) => {
        if (++count === 1) request.socket.destroy();
        else response.end('ok');
      }),
    );
    const transport = transportTo(server, { connections: 1 });
    await failureOf(transport.request(get('/')));
    expect((await transport.request(get('/'))).status).toBe(200);
  });
});

describe('aborts', () => {
  it('before the start: nothing is sent', async () => {
    const server = await serve(httpServer((_, response) => response.end()));
    const request = get('/', { signal: AbortSignal.abort() });
    expect(await failureOf(transportTo(server).request(request))).toMatchObject({
      failure: 'aborted',
      sent: false,
    });
    expect(await failureOf(transportTo(server).stream(request))).toMatchObject({
      failure: 'aborted',
      sent: false,
    });
    expect(server.connections()).toBe(0);
  });

  it('while waiting for a connection: the request ends immediately and is never sent', async () => {
    const urls: string[] = [];
    let release = () => {};
    const server = await serve(
      httpServer((request, response) => {
        urls.push(request.url!);
        release = () => response.end('ok');
      }),
    );
    const transport = transportTo(server, { connections: 1 });
    const first = transport.request(get('/first'));
    const controller = new AbortController();
    const second = failureOf(transport.request(get('/second', { signal: controller.signal })));
    while (urls.length === 0) await settle();
    controller.abort();
    expect(await second).toMatchObject({ failure: 'aborted', sent: false });
    release();
    await first;
    const third = transport.request(get('/third'));
    while (urls.length === 1) await settle();
    release();
    await third;
    expect(urls).toEqual(['/first', '/third']);
  });

  it('while the server works: the request may have been executed, and the connection is closed', async () => {
    let arrived = false;
    const server = await serve(
      httpServer(() => {
        arrived = true;
      }),
    );
    const controller = new AbortController();
    const failed = failureOf(transportTo(server).request({ ...del('/'), signal: controller.signal }));
    while (!arrived) await settle();
    controller.abort();
    expect(await failed).toMatchObject({ failure: 'aborted', sent: true });
    while (server.sockets.size > 0) await settle();
  });
});
