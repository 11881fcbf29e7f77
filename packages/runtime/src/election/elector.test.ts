import { hours, millis, seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { Registry } from '../metrics/registry.ts';
import { type Race, race } from './election.testkit.ts';
import { LeaseElector } from './elector.ts';
import { Lease } from './lease.ts';

let current: Race | undefined;
const start = async (seed?: number): Promise<Race> => {
  current = await race(seed);
  return current;
};
afterEach(async () => {
  await current?.close();
  current = undefined;
});

const KEY = { namespace: 'default', name: 'lapse' };

describe('LeaseElector: acquire', () => {
  test('makes the first candidate the leader at once and writes the Lease', async () => {
    const r = await start();
    const a = r.join('a');
    await r.settle();
    expect([a.elector.isValid(), a.log]).toEqual([true, ['0.0 gained']]);
    expect((await r.record())?.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
  });

  test('renews every two seconds with one request while other candidates wait', async () => {
    const r = await start();
    const a = r.join('a');
    await r.settle();
    const b = r.join('b');
    const before = Number((await r.record())!.metadata.resourceVersion);
    await r.pass(60_000);
    expect([a.elector.isValid(), b.elector.isValid(), b.log]).toEqual([true, false, []]);
    expect(Number((await r.record())!.metadata.resourceVersion) - before).toBe(30);
  });

  test('releases the Lease on shutdown, so that another candidate leads within a retry period', async () => {
    const r = await start();
    const a = r.join('a');
    await r.settle();
    const b = r.join('b');
    await r.pass(5000);
    void a.elector.stop();
    await r.pass(2400);
    expect([a.elector.isValid(), b.elector.isValid()]).toEqual([false, true]);
    expect((await r.record())?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test('replaces a crashed leader within the lease duration, but not before its validity ended', async () => {
    const r = await start();
    const a = r.join('a');
    await r.settle();
    const b = r.join('b');
    await r.pass(10_000);
    a.connection = 'hang';
    await r.pass(9900);
    expect(r.leaders()).toEqual(['a']);
    await r.pass(200);
    expect(r.leaders()).toEqual([]);
    await r.pass(7400);
    expect(r.leaders()).toEqual(['b']);
    expect(a.log).toEqual(['0.0 gained', '20.0 lost']);
    expect(Number.parseFloat(b.log[0]!)).toBeLessThan(10 + 15 + 2.5);
  });
});

describe('LeaseElector: renew and lose', () => {
  test('keeps leadership while the API server is unavailable for eight seconds', async () => {
    const r = await start();
    const a = r.join('a');
    await r.pass(2000);
    a.connection = 'refuse';
    await r.pass(8500);
    expect(a.elector.isValid()).toBe(true);
    a.connection = 'good';
    await r.pass(10_000);
    expect(a.log).toEqual(['0.0 gained']);
  });

  test('keeps leadership when the response to a renewal is lost', async () => {
    const r = await start();
    const a = r.join('a');
    await r.pass(1000);
    a.connection = 'lose';
    await r.pass(3000);
    a.connection = 'good';
    await r.pass(30_000);
    expect(a.log).toEqual(['0.0 gained']);
  });

  test('keeps leadership when another client changes labels of the Lease', async () => {
    const r = await start();
    const a = r.join('a');
    await r.pass(1000);
    await r.user.patch(Lease, KEY, { type: 'merge', patch: { metadata: { labels: { a: 'b' } } } });
    await r.pass(20_000);
    expect([a.log, (await r.record())?.metadata.labels]).toEqual([['0.0 gained'], { a: 'b' }]);
  });

  test('creates a deleted Lease again', async () => {
    const r = await start();
    const a = r.join('a');
    await r.pass(1000);
    await r.user.delete(Lease, KEY);
    await r.pass(5000);
    expect([a.log, (await r.record())?.spec?.holderIdentity]).toEqual([['0.0 gained'], 'a']);
  });

  test('loses leadership at the next renewal when the Lease has another holder', async () => {
    const r = await start();
    const a = r.join('a');
    await r.pass(1000);
    await r.user.patch(Lease, KEY, {
      type: 'merge',
      patch: { spec: { holderIdentity: 'x', renewTime: '2026-01-01T00:00:01.000000Z' } },
    });
    await r.pass(1100);
    expect([a.elector.isValid(), a.log]).toEqual([false, ['0.0 gained', '2.0 lost']]);
  });

  test('counts the validity from when the renewal was sent, not from its response', async () => {
    const r = await start();
    const a = r.join('a');
    await r.pass(1000);
    a.connection = 'slow';
    await r.pass(5500);
    // Sent at 2 s, response at 6 s: valid until 12 s.
    a.connection = 'hang';
    await r.pass(5400);
    expect(a.elector.isValid()).toBe(true);
    await r.pass(200);
    expect(a.elector.isValid()).toBe(false);
  });

  test('retries every two seconds without a leader when access to the Lease is forbidden', async () => {
    const r = await start();
    const a = r.join('a');
    a.connection = 'refuse';
    await r.pass(60_000);
    expect(a.log).toEqual([]);
  });
});

describe('LeaseElector: clocks', () => {
  test('ends the validity at once when the wall clock is set forward, then acquires the lease again', async () => {
    const r = await start();
    const a = r.join('a');
    await r.pass(1000);
    a.clock.set(hours(1));
    expect(a.elector.isValid()).toBe(false);
    await r.pass(5000);
    expect(a.elector.isValid()).toBe(true);
  });

  test('does not prolong the validity when the wall clock is set back', async () => {
    const r = await start();
    const a = r.join('a');
    await r.pass(1000);
    a.connection = 'hang';
    a.clock.set(millis(-hours(1)));
    await r.pass(8900);
    expect(a.elector.isValid()).toBe(true);
    await r.pass(200);
    expect(a.elector.isValid()).toBe(false);
  });

  test('does not act on an old lease after the process was suspended', async () => {
    const r = await start();
    const a = r.join('a');
    const b = r.join('b');
    await r.pass(10_000);
    const [leader, other] = a.elector.isValid() ? [a, b] : [b, a];
    leader.clock.freeze();
    await r.pass(30_000);
    // Its timers have not fired yet: `isValid` alone must return the correct result.
    expect([leader.elector.isValid(), other.elector.isValid()]).toEqual([false, true]);
    leader.clock.thaw();
    await r.pass(30_000);
    expect(r.leaders()).toEqual([other.name]);
  });
});

test('rejects inconsistent durations', async () => {
  const r = await start();
  const options = {
    client: r.user,
    clock: r.clock,
    random: { next: () => 0, bytes: () => new Uint8Array() },
    log: silentLog,
    registry: new Registry(),
    identity: 'x',
    lease: KEY,
  };
  expect(() => new LeaseElector({ ...options, renewDeadline: seconds(15) })).toThrow(/renew deadline/);
  expect(() => new LeaseElector({ ...options, retryPeriod: seconds(9) })).toThrow(/retry period/);
});

test('there are never two leaders under random faults, and one leader after they stop (three candidates)', async () => {
  const who = fc.nat(2);
  const command = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('connection' as const),
        who,
        how: fc.constantFrom(
          'good' as const,
          'hang' as const,
          'lose' as const,
          'refuse' as const,
          'slow' as const,
        ),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('freeze' as const), who }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('thaw' as const), who }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('set' as const),
        who,
        by: fc.integer({ min: -20_000, max: 20_000 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('pass' as const),
        length: fc.integer({ min: 100, max: 12_000 }),
      }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 25 }), fc.nat(1000), async (commands, seed) => {
      const r = await race(seed);
      for (const name of ['a', 'b', 'c']) r.join(name);
      const check = () => expect(r.leaders().length).toBeLessThanOrEqual(1);
      for (const c of commands) {
        if (c.do === 'pass') await r.pass(c.length, check);
        else if (c.do === 'connection') r.candidates[c.who]!.connection = c.how;
        else if (c.do === 'set') r.candidates[c.who]!.clock.set(millis(c.by));
        else r.candidates[c.who]!.clock[c.do]();
        check();
      }
      for (const candidate of r.candidates) {
        candidate.connection = 'good';
        candidate.clock.thaw();
      }
      await r.pass(60_000, check);
      expect(r.leaders()).toHaveLength(1);
      await r.close();
    }),
    { numRuns: 60 },
  );
});
