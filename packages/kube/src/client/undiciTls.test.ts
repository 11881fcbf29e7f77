import { createSecureServer } from 'node:http2';
import { createServer, type ServerOptions } from 'node:https';
import { connect } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { selfSigned } from './certificate.testkit.ts';
import { httpServer, type LocalServer, listenLocal, tcpServer } from './testkit.ts';
import { closeAfterEach, del, failureOf, get, serve, transportTo } from './undici.testkit.ts';

closeAfterEach();

const server = selfSigned('server', ['127.0.0.1', 'cluster.example']);
const elsewhere = selfSigned('elsewhere', ['elsewhere.example']);
const user = selfSigned('user');

/** Responds with the client certificate's name and the requested server name. */
function httpsServer(options: ServerOptions): Promise<LocalServer> {
  const https = createServer({ ...options, keepAliveTimeout: 60_000 }, (request, response) => {
    const socket = request.socket as TLSSocket;
    request.resume();
    response.end(`${socket.getPeerCertificate().subject?.CN ?? '-'} ${socket.servername || '-'}`);
  });
  return listenLocal(https, 'https', 'connection');
}

const ask = async (transport: ReturnType<typeof transportTo>): Promise<string> =>
  Buffer.from((await transport.request(get('/'))).body).toString();

describe('TLS', () => {
  it.each([
    ['the CA verifies the server', { ca: server.cert }, '- -'],
    [
      'another server name to request and verify',
      { ca: server.cert, servername: 'cluster.example' },
      '- cluster.example',
    ],
    ['no verification', { insecure: true }, '- -'],
    ['a client certificate', { ca: server.cert, cert: user.cert, key: user.key }, 'user -'],
  ])('%s', async (_name, tls, expected) => {
    const local = await serve(
      httpsServer({ ...server, ca: user.cert, requestCert: true, rejectUnauthorized: false }),
    );
    expect(await ask(transportTo(local, { tls }))).toBe(expected);
  });

  it.each([
    ['an unknown CA', {}],
    ['a CA that did not sign the certificate', { ca: elsewhere.cert }],
    ['a certificate for another name', { ca: server.cert, servername: 'wrong.example' }],
  ])('rejects %s; nothing is sent', async (_name, tls) => {
    const local = await serve(httpsServer(server));
    expect(await failureOf(transportTo(local, { tls }).request(get('/')))).toMatchObject({
      failure: 'unreachable',
      sent: false,
      message: expect.stringMatching(/certificate/i),
    });
  });

  it('DELETE requests with bodies reuse their TLS connections', async () => {
    const local = await serve(httpsServer(server));
    const transport = transportTo(local, { tls: { ca: server.cert }, connections: 4 });
    await Promise.all(Array.from({ length: 100 }, () => transport.request(del('/a'))));
    expect(local.connections()).toBe(4);
  });

  it('a server without TLS', async () => {
    const local = await serve(httpServer((_, response) => response.end()));
    const url = local.url.replace('http:', 'https:');
    expect(await failureOf(transportTo({ url }).request(get('/')))).toMatchObject({
      failure: 'unreachable',
      sent: false,
    });
  });
});

describe('HTTP/2', () => {
  const http2Server = () =>
    listenLocal(
      createSecureServer({ ...server, allowHTTP1: true }, (request, response) => {
        let size = 0;
        request.on('data', (part: Buffer) => {
          size += part.length;
        });
        request.on('end', () => response.end(`${request.httpVersion} ${request.method} ${size}`));
      }) as never,
      'https',
      'connection',
    );

  it('is off by default', async () => {
    const transport = transportTo(await serve(http2Server()), { tls: { ca: server.cert } });
    expect(await ask(transport)).toBe('1.1 GET 0');
  });

  it('if enabled, a burst of DELETE requests with bodies shares one connection', async () => {
    const local = await serve(http2Server());
    const transport = transportTo(local, { tls: { ca: server.cert }, http2: true });
    const answers = await Promise.all(Array.from({ length: 100 }, () => transport.request(del('/a'))));
    expect(new Set(answers.map((answer) => Buffer.from(answer.body).toString()))).toEqual(
      new Set(['2.0 DELETE 42']),
    );
    expect(local.connections()).toBe(1);
  });
});

describe('proxies', () => {
  /** An HTTP proxy that supports CONNECT and records the requested hosts. */
  function connectProxy(received: string[]): Promise<LocalServer> {
    return tcpServer((socket) => {
      socket.once('data', (head) => {
        const lines = head.toString().split('\r\n');
        received.push(lines[0]!, ...lines.filter((line) => /^proxy-authorization/i.test(line)));
        const [host, port] = lines[0]!.split(' ')[1]!.split(':');
        const onward = connect(Number(port), host, () => {
          socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
          onward.pipe(socket).pipe(onward);
        });
        onward.on('error', () => socket.destroy());
      });
    });
  }

  it('TLS uses a CONNECT tunnel, is verified end to end, and sends the credentials of the proxy URL', async () => {
    const received: string[] = [];
    const proxy = await serve(connectProxy(received));
    const local = await serve(httpsServer(server));
    const proxyUrl = proxy.url.replace('http://', 'http://me:secret@');
    const transport = transportTo(local, { tls: { ca: server.cert }, proxyUrl, connections: 2 });
    expect(await ask(transport)).toBe('- -');
    await Promise.all(Array.from({ length: 20 }, () => transport.request(del('/a'))));
    expect(received.slice(0, 2)).toEqual([
      `CONNECT ${local.url.slice('https://'.length)} HTTP/1.1`,
      `proxy-authorization: Basic ${Buffer.from('me:secret').toString('base64')}`,
    ]);
    expect(local.connections()).toBe(2);
  });

  it('a server behind the proxy with the wrong certificate is rejected', async () => {
    const proxy = await serve(connectProxy([]));
    const local = await serve(httpsServer(server));
    const transport = transportTo(local, { tls: { ca: elsewhere.cert }, proxyUrl: proxy.url });
    expect(await failureOf(transport.request(get('/')))).toMatchObject({
      failure: 'unreachable',
      sent: false,
    });
  });

  it('a proxy that denies the tunnel: unreachable, not sent', async () => {
    const proxy = await serve(
      tcpServer((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')),
      ),
    );
    const local = await serve(httpsServer(server));
    const transport = transportTo(local, { tls: { ca: server.cert }, proxyUrl: proxy.url });
    expect(await failureOf(transport.request(del('/')))).toMatchObject({
      failure: 'unreachable',
      sent: false,
    });
  });

  it('SOCKS5', async () => {
    const proxy = await serve(
      tcpServer((socket) => {
        socket.once('data', () => {
          socket.write(Buffer.from([5, 0]));
          socket.once('data', (ask) => {
            const port = ask.readUInt16BE(ask.length - 2);
            const onward = connect(port, '127.0.0.1', () => {
              socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
              onward.pipe(socket).pipe(onward);
            });
            onward.on('error', () => socket.destroy());
          });
        });
      }),
    );
    const local = await serve(httpsServer(server));
    const proxyUrl = proxy.url.replace('http:', 'socks5:');
    const tls = { ca: server.cert, servername: 'cluster.example' };
    expect(await ask(transportTo(local, { tls, proxyUrl }))).toBe('- cluster.example');
    expect(proxy.connections()).toBe(1);
  });
});
