import { getEventListeners } from 'node:events';
import { millis, seconds } from '@lapse/base/instant';
import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '#api/http';
import { type Exchange, withDeadline } from './deadline.ts';
import { inProcessTransport } from './inProcess.ts';
import { bytes, chunked, manualClock, settle } from './testkit.ts';

const ok: HttpResponse = { status: 200, headers: { date: 'x' }, body: bytes('ok') };
const request = { method: 'GET', path: '/', headers: {} };

function setup(answer: () => Promise<HttpResponse>) {
  const clock = manualClock();
  const seen: Exchange[] = [];
  const transport = withDeadline(inProcessTransport(answer), {
    clock,
    timeout: seconds(30),
    observe: (exchange) => seen.push(exchange),
  });
  return { clock, seen, transport };
}
const never = () => new Promise<HttpResponse>(() => {});

describe('withDeadline', () => {
  it('a response in time leaves no timer', async () => {
    const { clock, seen, transport } = setup(async () => ok);
    expect((await transport.request(request)).status).toBe(200);
    expect(clock.sleepers).toBe(0);
    expect(seen).toMatchObject([{ method: 'GET', path: '/', stream: false, status: 200, roundTrip: 0 }]);
  });

  it.each([
    ['the default', {}, 30],
    ['a limit of its own', { timeout: seconds(5) }, 5],
  ])('no response: a timeout after %s; the request may have been executed', async (_name, more, limit) => {
    const { clock, seen, transport } = setup(never);
    const failed = expect(transport.request({ ...request, ...more })).rejects.toMatchObject({
      failure: 'timeout',
      sent: true,
      message: expect.stringContaining(`${limit} s`),
    });
    await clock.advance(millis(limit * 1000 - 1));
    expect(clock.sleepers).toBe(1);
    await clock.advance(millis(1));
    await failed;
    expect(seen).toMatchObject([{ failure: 'timeout', roundTrip: limit * 1000 }]);
  });

  it('zero means no limit', async () => {
    const { clock, transport } = setup(never);
    void transport.request({ ...request, timeout: millis(0) });
    await settle();
    expect(clock.sleepers).toBe(0);
  });

  it('for a stream, the limit applies to the headers only', async () => {
    const { clock, transport } = setup(async () => ({ ...ok, body: chunked('a', 'b') }));
    const stream = await transport.stream(request);
    expect(clock.sleepers).toBe(0);
    await clock.advance(seconds(100));
    let text = '';
    for await (const chunk of stream.chunks) text += Buffer.from(chunk).toString();
    expect(text).toBe('ab');
  });

  it('a long-lived signal does not accumulate listeners', async () => {
    const { signal } = new AbortController();
    const { transport } = setup(async () => ({ ...ok, body: chunked('a') }));
    for (let i = 0; i < 5; i++) {
      await transport.request({ ...request, signal });
      for await (const _ of (await transport.stream({ ...request, signal })).chunks);
      (await transport.stream({ ...request, signal })).close();
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('an abort by the caller is not a timeout, before or after the headers of a stream', async () => {
    const first = new AbortController();
    const waiting = setup(never).transport.request({ ...request, signal: first.signal });
    first.abort();
    await expect(waiting).rejects.toMatchObject({ failure: 'aborted' });
    const second = new AbortController();
    async function* silent() {
      yield bytes('a');
      await new Promise(() => {});
    }
    const stream = await setup(async () => ({ ...ok, body: silent() })).transport.stream({
      ...request,
      signal: second.signal,
    });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of stream.chunks) seen.push(Buffer.from(chunk).toString());
    })();
    await settle();
    second.abort();
    await reading;
    expect(seen).toEqual(['a']);
  });
});
