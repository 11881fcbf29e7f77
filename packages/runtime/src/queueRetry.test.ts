import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';
import { describe, expect, test } from 'vitest';
import { queueKit } from './queue.testkit.ts';

describe('Queue: failures', () => {
  const forbidden = new ApiError(403, 'Forbidden', 'no');
  const busy = new ApiError(429, 'TooManyRequests', 'later', { retryAfterSeconds: 7 });
  const delaysOf = async (cause: unknown, times: number) => {
    const q = queueKit();
    const delays: number[] = [];
    q.add('a');
    for (let i = 0; i < times; i++) {
      await q.pass(10 * 60_000);
      q.take();
      q.fail('a', cause);
      q.done('a');
      delays.push(q.waits('a')!);
    }
    return delays;
  };

  test('doubles the delay from 5 ms to 60 s', async () => {
    const delays = await delaysOf(new Error('x'), 20);
    expect(delays.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
    expect(delays.slice(-3)).toEqual([60_000, 60_000, 60_000]);
  });

  test('starts at one second and ends at five minutes after a 403', async () => {
    const delays = await delaysOf(forbidden, 12);
    expect([delays[0], delays[1], delays.at(-1)]).toEqual([1000, 2000, 300_000]);
  });

  test('treats missing credentials like a 403', async () => {
    const delays = await delaysOf(new TransportError('credentials', 'none', { sent: false }), 1);
    expect(delays).toEqual([1000]);
  });

  test('waits at least as long as the Retry-After of the server', async () => {
    expect((await delaysOf(busy, 3)).slice(0, 3)).toEqual([7000, 7000, 7000]);
  });

  test('caps a Retry-After of an hour', async () => {
    const greedy = new ApiError(503, 'x', 'x', { retryAfterSeconds: 3600 });
    expect(await delaysOf(greedy, 1)).toEqual([60_000]);
  });

  test('resets the delay after a success', async () => {
    const q = queueKit();
    q.add('a');
    q.take();
    q.fail('a');
    q.done('a');
    await q.pass(5);
    expect([q.take(), q.last().failures]).toEqual(['a', 1]);
    q.forget('a');
    q.done('a');
    q.add('a');
    q.take();
    expect(q.last().failures).toBe(0);
  });

  test('does not delay an event by the backoff, because the change may fix the failure', () => {
    const q = queueKit();
    q.add('a');
    q.take();
    q.fail('a');
    q.done('a');
    q.add('a');
    expect([q.take(), q.last().failures]).toEqual(['a', 1]);
  });

  test('limits the overall rate of failing keys, but never delays a key beyond its maximum', () => {
    const q = queueKit({ retry: { perSecond: 10, burst: 2 } });
    const waits: number[] = [];
    for (let i = 0; i < 700; i++) {
      q.add(`k${i}`);
      q.take();
      q.fail(`k${i}`);
      q.done(`k${i}`);
      waits.push(q.waits(`k${i}`)!);
    }
    expect(waits.slice(0, 4)).toEqual([5, 5, 100, 200]);
    expect(Math.max(...waits)).toBe(60_000);
  });

  test('counts retries', () => {
    let retries = 0;
    const q = queueKit({ observer: { retried: () => retries++ } });
    q.add('a');
    q.take();
    q.fail('a');
    q.done('a');
    expect(retries).toBe(1);
  });
});

describe('Queue: conflicts', () => {
  function loseOnce(q: ReturnType<typeof queueKit>) {
    q.add('a');
    q.take();
    q.contend('a');
    q.done('a');
  }

  test('increases the delay from 50–100 ms to 2.5–5 s', async () => {
    const q = queueKit({ seed: 1 });
    const delays: number[] = [];
    q.add('a');
    for (let i = 0; i < 40; i++) {
      q.take();
      q.contend('a');
      q.done('a');
      delays.push(q.waits('a')!);
      await q.pass(5000);
    }
    expect(delays[0]).toBeGreaterThanOrEqual(50);
    expect(delays[0]).toBeLessThanOrEqual(100);
    expect(Math.min(...delays.slice(10))).toBeGreaterThanOrEqual(2500);
    expect(Math.max(...delays)).toBeLessThanOrEqual(5000);
  });

  test('counts conflicts apart from failures and outside the overall rate', () => {
    let retries = 0;
    const q = queueKit({ retry: { perSecond: 0.001, burst: 1 }, observer: { retried: () => retries++ } });
    for (let i = 0; i < 10; i++) {
      q.add(`k${i}`);
      q.take();
      q.contend(`k${i}`);
      q.done(`k${i}`);
    }
    expect([q.waits('k9'), retries]).toEqual([100, 0]);
  });

  test('does not shorten the wait on events, because they report the conflicting writes', async () => {
    const q = queueKit();
    loseOnce(q);
    q.add('a');
    q.addIn('a', 1);
    expect(q.take()).toBeUndefined();
    expect(q.waits('a')).toBe(100);
    await q.pass(100);
    expect([q.take(), q.last().losses, q.last().failures]).toEqual(['a', 1, 0]);
  });

  test('does not shorten the wait on an event during the reconcile, and does not lose the event', async () => {
    const q = queueKit();
    q.add('a');
    q.take();
    q.add('a');
    q.contend('a');
    q.done('a');
    expect(q.take()).toBeUndefined();
    await q.pass(100);
    expect(q.take()).toBe('a');
  });

  test('reacts to events again after a successful reconcile', async () => {
    const q = queueKit();
    loseOnce(q);
    await q.pass(100);
    q.take();
    q.forget('a');
    q.done('a');
    q.add('a');
    expect([q.take(), q.last().losses]).toEqual(['a', 0]);
  });
});
