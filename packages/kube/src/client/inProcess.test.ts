import { describe, expect, it } from 'vitest';
import type { HttpHandler } from '#api/http';
import { inProcessTransport } from './inProcess.ts';
import { bytes, chunked, scripted } from './testkit.ts';

const request = { method: 'GET', path: '/', headers: {} };

describe('inProcessTransport', () => {
  it('headers that are sent more than once stay separate, because a value may contain commas', async () => {
    const server = scripted({ status: 200, headers: {}, body: bytes('') });
    await inProcessTransport(server.handler).request({ ...request, headers: { a: ['b', 'c'], d: 'e' } });
    expect(server.requests[0]?.headers).toEqual({ a: ['b', 'c'], d: 'e' });
  });

  it('a streamed body is collected for a request; a whole body is one chunk of a stream', async () => {
    const streamed = inProcessTransport(
      scripted({ status: 200, headers: {}, body: chunked('a', 'b') }).handler,
    );
    expect(Buffer.from((await streamed.request(request)).body).toString()).toBe('ab');
    const whole = inProcessTransport(scripted({ status: 403, headers: {}, body: bytes('no') }).handler);
    const parts: string[] = [];
    for await (const chunk of (await whole.stream(request)).chunks) parts.push(Buffer.from(chunk).toString());
    expect(parts).toEqual(['no']);
  });

  it.each(['request', 'stream'] as const)('a server that throws is reported as broken (%s)', async (way) => {
    const handler: HttpHandler = async () => {
      throw new Error('bug');
    };
    await expect(inProcessTransport(handler)[way](request)).rejects.toMatchObject({
      failure: 'broken',
      sent: true,
      message: expect.stringContaining('bug'),
    });
  });

  it.each(['request', 'stream'] as const)(
    'a request that was aborted before the start never reaches the server (%s)',
    async (way) => {
      const server = scripted({ status: 200, headers: {}, body: bytes('') });
      const aborted = { ...request, signal: AbortSignal.abort() };
      await expect(inProcessTransport(server.handler)[way](aborted)).rejects.toMatchObject({
        failure: 'aborted',
        sent: false,
      });
      expect(server.requests).toHaveLength(0);
    },
  );

  it.each(['request', 'stream'] as const)(
    "an abort while the server works aborts the server's signal (%s)",
    async (way) => {
      const controller = new AbortController();
      let notified = false;
      const handler: HttpHandler = ({ signal }) =>
        new Promise(() =>
          signal!.addEventListener('abort', () => {
            notified = true;
          }),
        );
      const waiting = inProcessTransport(handler)[way]({ ...request, signal: controller.signal });
      controller.abort();
      await expect(waiting).rejects.toMatchObject({ failure: 'aborted', sent: true });
      expect(notified).toBe(true);
    },
  );

  it('a stream that was closed before it was read is empty, even if the server sends nothing', async () => {
    async function* silent() {
      await new Promise(() => {});
      yield bytes('never');
    }
    const transport = inProcessTransport(scripted({ status: 200, headers: {}, body: silent() }).handler);
    const stream = await transport.stream(request);
    stream.close();
    for await (const _ of stream.chunks) throw new Error('a chunk');
  });
});
