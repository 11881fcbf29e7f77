import { millis, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { describe, expect, it } from 'vitest';
import { computeRetryAfter, createFlow, type FlowOptions } from './flow.ts';
import { manualClock, settle } from './testkit.ts';
import {
  type Transport,
  TransportError,
  type TransportFailure,
  type TransportResponse,
} from './transport.ts';

type Step = number | [number, Record<string, string>] | TransportFailure | 'refusedConnection';

const error = (step: string): TransportError =>
  step === 'refusedConnection'
    ? new TransportError('unreachable', 'ECONNREFUSED', { sent: false })
    : new TransportError(step as TransportFailure, step, { sent: true });

const answer = (step: Step): TransportResponse => {
  if (typeof step === 'string') throw error(step);
  const [status, headers] = typeof step === 'number' ? [step, {}] : step;
  return { status, headers, body: new Uint8Array() };
};

function setup(steps: Step[], options: Partial<FlowOptions> = {}) {
  const clock = manualClock();
  const flow = createFlow({ clock, random: seededRandom(1), ...options });
  let sent = 0;
  const next = async () => answer(steps[Math.min(sent++, steps.length - 1)]!);
  const inner: Transport = {
    request: next,
    stream: async () => ({ ...(await next()), chunks: (async function* () {})(), close: () => {} }),
  };
  return { clock, flow, transport: flow.around(inner), sent: () => sent };
}

const request = (method: string) => ({ method, path: '/', headers: {} });

/** The status or failure after advancing the clock, and the number of attempts. */
async function outcome(method: string, steps: Step[]): Promise<string> {
  const { clock, transport, sent } = setup(steps);
  const done = transport.request(request(method)).then(
    (response) => `${response.status}`,
    (e: TransportError) => e.failure,
  );
  await clock.advance(seconds(60));
  return `${await done} after ${sent()}`;
}

describe('which requests are retried', () => {
  it.each<[string, string, Step[], string]>([
    ['does not retry after success', 'GET', [200], '200 after 1'],
    ['does not retry after a 4xx', 'GET', [404], '404 after 1'],
    ['does not retry after a 500', 'GET', [500], '500 after 1'],
    ['retries a read after 429', 'GET', [429, 200], '200 after 2'],
    ['retries a read after a gateway error', 'GET', [502, 503, 504, 200], '200 after 4'],
    ['retries a read up to four attempts', 'GET', [503], '503 after 4'],
    ['retries a read after a broken connection', 'GET', ['broken', 200], '200 after 2'],
    ['retries a read after a timeout', 'GET', ['timeout', 200], '200 after 2'],
    ['retries a failing read up to four attempts', 'GET', ['broken'], 'broken after 4'],
    ['does not retry a read that the caller aborted', 'GET', ['aborted', 200], 'aborted after 1'],
    ['does not retry a read after a malformed response', 'GET', ['malformed', 200], 'malformed after 1'],
    ['does not retry a read without credentials', 'GET', ['credentials', 200], 'credentials after 1'],
    ['does not retry a write after 429', 'DELETE', [429, 200], '429 after 1'],
    ['does not retry a write after 503', 'POST', [503, 200], '503 after 1'],
    [
      'does not retry a write after a broken connection: it may have been executed',
      'DELETE',
      ['broken', 200],
      'broken after 1',
    ],
    ['does not retry a write after a timeout', 'PATCH', ['timeout', 200], 'timeout after 1'],
    ['retries a write of which no byte was sent', 'DELETE', ['refusedConnection', 200], '200 after 2'],
    ['retries an unsent write up to four attempts', 'POST', ['refusedConnection'], 'unreachable after 4'],
    ['does not retry a write that was partly sent', 'PUT', ['unreachable', 200], 'unreachable after 1'],
  ])('%s', async (_rule, method, steps, expected) => {
    expect(await outcome(method, steps)).toBe(expected);
  });

  it('the delay before a retry grows, and an abort of the caller ends it', async () => {
    const most = { next: () => 0.999999, bytes: () => new Uint8Array() };
    const { clock, transport, sent } = setup([503], { random: most });
    const controller = new AbortController();
    const done = transport
      .request({ ...request('GET'), signal: controller.signal })
      .catch((e: TransportError) => e.failure);
    await clock.advance(millis(99));
    expect(sent()).toBe(1);
    await clock.advance(millis(1));
    expect(sent()).toBe(2);
    await clock.advance(millis(199));
    expect(sent()).toBe(2);
    controller.abort();
    expect(await done).toBe('aborted');
    expect(clock.sleepers).toBe(0);
  });

  it('a stream is opened once: the reflector does its own retries', async () => {
    const { transport, sent } = setup([503, 200]);
    expect((await transport.stream(request('GET'))).status).toBe(503);
    expect(sent()).toBe(1);
  });
});

describe('Retry-After', () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['zero', { 'retry-after': '0' }, 0],
    ['at most a minute', { 'retry-after': '86400' }, 60_000],
    [
      'a date by the server’s clock',
      { 'retry-after': 'Sun, 06 Nov 1994 08:49:47 GMT', date: 'Sun, 06 Nov 1994 08:49:37 GMT' },
      10_000,
    ],
    ['a date in the past', { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }, 0],
    ['a malformed value', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['a huge number', { 'retry-after': '9'.repeat(400) }, undefined],
    ['absent', {}, undefined],
  ])('%s', (_name, headers, pause) => {
    expect(computeRetryAfter(headers, manualClock())).toBe(pause);
  });

  it.each([429, 503])('%d with it pauses all requests, including writes and streams', async (status) => {
    const { clock, flow, transport, sent } = setup([[status, { 'retry-after': '5' }], 200]);
    expect((await transport.request(request('DELETE'))).status).toBe(status);
    void transport.request(request('DELETE'));
    void transport.stream(request('GET'));
    await clock.advance(millis(4_999));
    expect(sent()).toBe(1);
    expect(flow.state).toMatchObject({ waiting: 2 });
    await clock.advance(millis(1));
    expect(sent()).toBe(3);
  });

  it('a 429 without it pauses no other request', async () => {
    const { transport, sent } = setup([429, 200]);
    await transport.request(request('DELETE'));
    await transport.request(request('DELETE'));
    expect(sent()).toBe(2);
  });
});

describe('requests in flight', () => {
  /** Requests that stay in flight until the test responds. */
  function pending(options: Partial<FlowOptions> = {}) {
    const clock = manualClock();
    const flow = createFlow({ clock, random: seededRandom(1), ...options });
    const out: ((step: Step) => void)[] = [];
    const inner = {
      request: () =>
        new Promise<TransportResponse>((resolve, reject) =>
          out.push((step) => (typeof step === 'string' ? reject(error(step)) : resolve(answer(step)))),
        ),
      stream: () => Promise.reject(error('broken')),
    };
    const transport = flow.around(inner);
    const send = () => transport.request(request('DELETE')).catch(() => {});
    return { flow, out, send };
  }

  it('allows 32 requests by default', async () => {
    const { flow, out, send } = pending();
    for (let i = 0; i < 40; i++) void send();
    await settle();
    expect(out).toHaveLength(32);
    expect(flow.state).toEqual({ inFlight: 32, waiting: 8, limit: 32 });
  });

  it.each<[Step, number]>([
    [429, 4],
    [504, 4],
    ['timeout', 4],
    [503, 8],
    ['broken', 8],
    [200, 8],
    [409, 8],
  ])('after %s the limit of 8 is %d', async (step, limit) => {
    const { flow, out, send } = pending({ maxInFlight: 8 });
    const done = send();
    await settle();
    out[0]!(step);
    await done;
    expect(flow.state).toEqual({ inFlight: 0, waiting: 0, limit });
  });

  it('an open stream does not count against the limit', async () => {
    const { flow, transport } = setup([200], { maxInFlight: 1 });
    await transport.stream(request('GET'));
    await transport.stream(request('GET'));
    expect(flow.state.inFlight).toBe(0);
  });

  it('a stream that cannot be opened releases its slot', async () => {
    const { flow, transport } = setup(['broken'], { maxInFlight: 1 });
    await expect(transport.stream(request('GET'))).rejects.toMatchObject({ failure: 'broken' });
    expect(flow.state.inFlight).toBe(0);
  });
});
