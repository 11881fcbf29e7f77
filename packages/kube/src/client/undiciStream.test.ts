import { millis, seconds } from '@lapse/base/instant';
import { describe, expect, it } from 'vitest';
import { httpServer, manualClock, settle } from './testkit.ts';
import { closeAfterEach, collect, failureOf, get, serve, transportTo } from './undici.testkit.ts';

closeAfterEach();

describe('streams', () => {
  it('chunks arrive as they are sent, and the server ends the stream', async () => {
    const server = await serve(
      httpServer((_, response) => {
        response.write('one\n');
        setImmediate(() => response.end('two\n'));
      }),
    );
    const stream = await transportTo(server).stream(get('/watch'));
    expect(stream.status).toBe(200);
    expect(await collect(stream)).toBe('one\ntwo\n');
  });

  it('no listener: unreachable', async () => {
    const server = await serve(httpServer(() => {}));
    await server.close();
    const failed = await failureOf(transportTo(server).stream(get('/watch')));
    expect(failed).toMatchObject({ failure: 'unreachable', sent: false });
  });

  it('a broken connection is an error', async () => {
    const server = await serve(
      httpServer((request, response) => {
        response.write('one\n');
        setImmediate(() => request.socket.destroy());
      }),
    );
    const stream = await transportTo(server).stream(get('/watch'));
    expect(await failureOf(collect(stream))).toMatchObject({ failure: 'broken', sent: true });
  });

  it.each(['close', 'abort'])(
    '%s ends the iteration without an error and closes the connection',
    async (how) => {
      const server = await serve(httpServer((_, response) => void response.write('one\n')));
      const controller = new AbortController();
      const stream = await transportTo(server).stream(get('/watch', { signal: controller.signal }));
      const text = collect(stream);
      await settle();
      if (how === 'close') stream.close();
      else controller.abort();
      expect(await text).toBe('one\n');
      while (server.sockets.size > 0) await settle();
    },
  );

  it('closing a stream that is not read causes no error', async () => {
    const server = await serve(httpServer((_, response) => void response.write('one\n')));
    const stream = await transportTo(server).stream(get('/watch'));
    stream.close();
    stream.close();
    while (server.sockets.size > 0) await settle();
    expect(await collect(stream)).toBe('');
  });

  it('closing a stream whose response is complete and unread causes no error', async () => {
    const server = await serve(httpServer((_, response) => void response.writeHead(401).end('who are you?')));
    const stream = await transportTo(server).stream(get('/watch'));
    await settle(10);
    stream.close();
    await settle(10);
    expect(stream.status).toBe(401);
  });

  it('a half-open connection is detected by the injected clock', async () => {
    const clock = manualClock();
    const server = await serve(httpServer((_, response) => void response.write('one\n')));
    const transport = transportTo(server, { clock, streamSilence: seconds(60) });
    const stream = await transport.stream(get('/watch'));
    const failed = failureOf(collect(stream));
    while (clock.sleepers === 0) await settle();
    await clock.advance(millis(59_999));
    expect(server.sockets.size).toBe(1);
    await clock.advance(millis(1));
    expect(await failed).toMatchObject({ failure: 'timeout', message: expect.stringContaining('60 s') });
    expect(clock.sleepers).toBe(0);
  });

  it('closing the transport ends its streams', async () => {
    const server = await serve(httpServer((_, response) => void response.write('one\n')));
    const transport = transportTo(server);
    const failed = failureOf(collect(await transport.stream(get('/watch'))));
    await transport.close();
    expect(await failed).toMatchObject({ failure: 'broken' });
  });
});
