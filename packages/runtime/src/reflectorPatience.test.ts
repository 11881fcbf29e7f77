import { describe, expect, test } from 'vitest';
import { MINUTE, withTwo } from './reflector.testkit.ts';

describe('Reflector: retries', () => {
  test('sends no request before the Retry-After of a 429', async () => {
    const kit = withTwo();
    kit.server.inject({ kind: 'status', code: 429, reason: 'TooManyRequests', retryAfter: 20 });
    const handle = kit.acquire();
    await kit.pass(19_999);
    expect(kit.server.requests).toHaveLength(1);
    await kit.pass(1);
    expect(handle.status.synced).toBe(true);
  });

  test('retries a server that returns 500 for a day at most every half minute, then recovers', async () => {
    const kit = withTwo();
    kit.server.inject(
      ...Array.from(
        { length: 10_000 },
        () => ({ kind: 'status', code: 500, reason: 'InternalError' }) as const,
      ),
    );
    const handle = kit.acquire();
    await kit.pass(60 * MINUTE);
    expect(kit.server.requests.length).toBeLessThan(60 * 4 + 12);
    expect(kit.statuses.at(-1)).toBe('empty: list unavailable');
    kit.server.heal();
    await kit.pass(30_000);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(handle.status.problem).toBeUndefined();
  });

  test('backs off when the server accepts watches and closes them at once', async () => {
    const kit = withTwo();
    kit.acquire();
    await kit.settle();
    kit.server.inject(
      ...Array.from({ length: 10_000 }, () => ({ kind: 'status', code: 503, reason: 'x' }) as const),
    );
    kit.server.endWatches();
    await kit.pass(10 * MINUTE);
    expect(kit.server.requests.length).toBeLessThan(60);
  });

  test('reports a forbidden watch and refreshes the cache by lists, finally every five minutes', async () => {
    const kit = withTwo({ listBy: 'pages' });
    kit.server.before = (path) => {
      if (path.includes('watch')) kit.server.inject({ kind: 'status', code: 403, reason: 'Forbidden' });
    };
    const handle = kit.acquire();
    await kit.settle();
    expect(handle.status).toMatchObject({ synced: true, problem: { kind: 'forbidden', verb: 'watch' } });
    const since = handle.status.problem!.since;
    await kit.pass(30 * MINUTE);
    const before = kit.server.requests.length;
    kit.server.put('c');
    await kit.pass(60 * MINUTE);
    expect((kit.server.requests.length - before) / 2).toBeLessThanOrEqual(25);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(handle.status.problem).toMatchObject({ kind: 'forbidden', verb: 'watch', since });
  });

  test('relists to skip malformed data in the stream', async () => {
    const kit = withTwo();
    const handle = kit.acquire();
    await kit.settle();
    kit.server.inject(...Array.from({ length: 3 }, () => ({ kind: 'garbage', after: 0 }) as const));
    kit.server.endWatches();
    await kit.settle();
    kit.server.put('c');
    await kit.pass(5000);
    expect(kit.contents(handle)).toEqual(kit.serverContents());
    expect(handle.status).toEqual({ state: 'watching', synced: true });
  });
});
