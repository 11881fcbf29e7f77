import { type Instant, millis, plus } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { describe, expect, test } from 'vitest';
import { Registry } from './metrics/registry.ts';
import { controllerMetrics } from './metrics/runtimeMetrics.ts';
import { again, failed, type Outcome, settled, terminal, waitUntil } from './outcome.ts';
import { queueKit } from './queue.testkit.ts';
import { settle } from './worker.ts';

function settleOne(outcome: (now: Instant) => Outcome, options: { ahead?: number } = {}) {
  const q = queueKit();
  const registry = new Registry();
  const metrics = controllerMetrics(registry, 'c', 1);
  const reports: string[] = [];
  const shift = options.ahead ?? 0;
  const time = {
    now: () => plus(q.clock.now(), millis(-shift)),
    localOf: (at: Instant) => plus(at, millis(shift)),
  };
  q.add('n/a');
  q.take();
  const now = time.now();
  settle(outcome(now), {
    queue: q.queue,
    time,
    metrics,
    log: silentLog,
    report: (_taken, { kind }) => reports.push(kind),
    taken: q.last(),
    key: 'n/a',
    now,
  });
  q.done('n/a');
  const counted = [...registry.text().matchAll(/result="(\w+)"} 1$/gm)].map((m) => m[1]);
  return { q, reports, counted, waits: q.waits('n/a'), registry };
}

describe('settle', () => {
  test.each<[string, (now: Instant) => Outcome, number | undefined, string, string[]]>([
    ['schedules nothing after a settled outcome', () => settled(), undefined, 'success', []],
    ['schedules a deadline', (now) => waitUntil(plus(now, millis(5000)), 'ttl'), 5000, 'requeue_after', []],
    [
      'retries a deadline that is already due with a delay',
      (now) => waitUntil(now, 'ttl'),
      100,
      'requeue_after',
      [],
    ],
    [
      'retries a past deadline with a delay',
      (now) => waitUntil(plus(now, millis(-5000)), 'ttl'),
      100,
      'requeue_after',
      [],
    ],
    [
      'treats a deadline that is not a number as a failure',
      () => waitUntil(Number.NaN as Instant, 'ttl'),
      5,
      'error',
      ['failed'],
    ],
    [
      'treats an infinite deadline as a failure',
      () => waitUntil(Number.POSITIVE_INFINITY as Instant, 'ttl'),
      5,
      'error',
      ['failed'],
    ],
    ['retries a conflict soon', () => again('conflict'), 100, 'requeue', []],
    ['retries a failure with backoff and reports it', () => failed(new Error('x')), 5, 'error', ['failed']],
    ['converts a thrown value that is not an Error', () => failed('x'), 5, 'error', ['failed']],
    [
      'reports a terminal outcome and does not retry it',
      () => terminal('InvalidTTL', 'x'),
      undefined,
      'error',
      ['terminal'],
    ],
  ])('%s', (_rule, outcome, waits, result, reports) => {
    const done = settleOne(outcome);
    expect(done.waits).toBe(waits);
    expect(done.counted).toEqual([result]);
    expect(done.reports).toEqual(reports);
  });

  test('converts a deadline from decision time to local time', () => {
    expect(settleOne((now) => waitUntil(plus(now, millis(5000)), 'ttl'), { ahead: 3000 }).waits).toBe(5000);
  });

  test('resets the failure count after a settled reconcile, even if the key changed meanwhile', () => {
    const q = queueKit();
    q.add('n/a');
    q.take();
    q.fail('n/a');
    q.add('n/a');
    q.done('n/a');
    q.take();
    expect(q.last().failures).toBe(1);
    q.add('n/a');
    const now = q.clock.now();
    const time = { now: () => now, localOf: (at: Instant) => at };
    const metrics = controllerMetrics(new Registry(), 'c', 1);
    settle(settled(), {
      queue: q.queue,
      time,
      metrics,
      log: silentLog,
      report: () => {},
      taken: q.last(),
      key: 'n/a',
      now,
    });
    q.done('n/a');
    q.take();
    expect(q.last().failures).toBe(0);
  });

  test('counts only terminal outcomes as terminal', () => {
    const text = settleOne(() => terminal('X', 'x')).registry.text();
    expect(text).toContain('controller_runtime_terminal_reconcile_errors_total{controller="c"} 1');
  });
});
