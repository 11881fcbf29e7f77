import { millis, minus, plus } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { claimAll, createBudget } from './budget.ts';

describe('createBudget', () => {
  test('allows every deletion without limits', () => {
    const clock = new VirtualClock();
    expect(createBudget({ clock }).claim('a', clock.now())).toEqual({ kind: 'go' });
  });

  test('allows the first deletions at once and gives each other object a time slot that it keeps', () => {
    const clock = new VirtualClock();
    const budget = createBudget({ clock, perSecond: 2 });
    const wait = (uid: string) => {
      const claim = budget.claim(uid, clock.now());
      return claim.kind === 'go' ? 0 : minus(claim.until, clock.now());
    };
    expect(['a', 'b', 'c', 'd', 'e'].map(wait)).toEqual([0, 0, 1000, 1000, 2000]);
    expect(['e', 'c'].map(wait)).toEqual([2000, 1000]);
  });

  test.each([0, -1, 1.5, Number.NaN])('rejects a limit of %d per second', (perSecond) => {
    expect(() => createBudget({ clock: new VirtualClock(), perSecond })).toThrow(/whole number/);
  });

  test('counts earlier deletions against a raised or lowered limit', async () => {
    const clock = new VirtualClock();
    const budget = createBudget({ clock, perMinute: 2 });
    let went = 0;
    const rush = () => {
      for (let i = 0; i < 5; i++) if (budget.claim(`u${i}`, clock.now()).kind === 'go') went++;
      return went;
    };
    expect(rush()).toBe(2);
    const limited = [3, 1, 3, 2, 4].map((perMinute) => {
      budget.limit({ perMinute });
      return rush();
    });
    expect(limited).toEqual([3, 3, 3, 3, 4]);
    await clock.advance(millis(60_000));
    expect(rush()).toBe(8);
    expect(() => budget.limit({ perSecond: 1, perMinute: 1 })).toThrow(/another budget/);
    expect(() => budget.limit({ perMinute: 0 })).toThrow(/whole number/);
  });

  test('releases a slot that is not used', async () => {
    const clock = new VirtualClock();
    const budget = createBudget({ clock, perMinute: 1 });
    budget.claim('a', clock.now());
    expect(budget.claim('gone', clock.now()).kind).toBe('wait');
    await clock.advance(millis(12 * 60_000));
    expect(budget.claim('b', clock.now())).toEqual({ kind: 'go' });
    expect(budget.claim('gone', clock.now()).kind).toBe('wait');
  });

  test('assigns new slots when all objects miss their slots', async () => {
    const clock = new VirtualClock();
    const budget = createBudget({ clock, perSecond: 1 });
    const uids = Array.from({ length: 100 }, (_, i) => `u${i}`);
    const wait = (uid: string) => {
      const claim = budget.claim(uid, clock.now());
      return claim.kind === 'go' ? 0 : minus(claim.until, clock.now());
    };
    expect(uids.slice(0, 3).map(wait)).toEqual([0, 1000, 2000]);
    uids.slice(3).forEach(wait);
    // Deletions were held for another reason, and their slots have passed.
    await clock.advance(millis(5 * 60_000));
    expect(uids.slice(1, 5).map(wait)).toEqual([0, 1000, 2000, 3000]);
    await clock.advance(millis(1000));
    expect(uids.slice(2, 5).map(wait)).toEqual([0, 1000, 2000]);
  });
});

describe('claimAll', () => {
  test('does not charge a budget when the other one makes the object wait', async () => {
    const clock = new VirtualClock();
    const own = createBudget({ clock, perMinute: 3 });
    const shared = createBudget({ clock, perSecond: 1 });
    const wait = (uid: string) => {
      const claim = claimAll([own, undefined, shared], uid, clock.now());
      return claim.kind === 'go' ? 0 : minus(claim.until, clock.now());
    };
    expect(['a', 'b', 'c', 'd'].map(wait)).toEqual([0, 1000, 2000, 60_000]);
    await clock.advance(millis(1000));
    expect(wait('b')).toBe(0);
    await clock.advance(millis(1000));
    expect(wait('c')).toBe(0);
    await clock.advance(millis(58_000));
    expect(['d', 'e', 'f'].map(wait)).toEqual([0, 1000, 2000]);
  });

  test('allows every deletion without budgets', () => {
    const clock = new VirtualClock();
    expect(claimAll([undefined], 'a', clock.now())).toEqual({ kind: 'go' });
  });
});

test('no window exceeds its limit, and every object gets its turn (random arrivals)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.nat(3000), { maxLength: 40 }),
      fc.constantFrom(0, 7, 90_000),
      async (perSecond, perMinute, gaps, late) => {
        const clock = new VirtualClock();
        const budget = createBudget({ clock, perSecond, perMinute });
        const went: number[] = [];
        const tryOnce = (uid: string) => {
          const claim = budget.claim(uid, clock.now());
          if (claim.kind === 'go') went.push(clock.elapsed());
          else clock.wakeAt(plus(claim.until, millis(uid.endsWith('3') ? late : 0)), () => tryOnce(uid));
        };
        for (const [i, gap] of gaps.entries()) {
          await clock.advance(millis(gap));
          tryOnce(`u${i}`);
        }
        await clock.advance(millis(3 * 60 * 60_000));
        expect(went).toHaveLength(gaps.length);
        for (const [limit, length] of [
          [perSecond, 1000],
          [perMinute, 60_000],
        ] as const)
          for (let i = limit; i < went.length; i++)
            expect(went[i]! - went[i - limit]!).toBeGreaterThanOrEqual(length);
      },
    ),
    { numRuns: 100 },
  );
});
