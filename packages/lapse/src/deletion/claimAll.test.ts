import { type Instant, millis, minus, seconds } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Budget, claimAll, createBudget } from './budget.ts';

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

function make() {
  const clock = new VirtualClock();
  const wait = (budgets: readonly (Budget | undefined)[], uid: string) => {
    const claim = claimAll(budgets, uid, clock.now());
    return claim.kind === 'go' ? 0 : minus(claim.until, clock.now());
  };
  return { clock, wait };
}

describe('a shared budget', () => {
  test('reserves no slots for objects that wait for their own budget', async () => {
    const { clock, wait } = make();
    const own = createBudget({ clock, perMinute: 3 });
    const shared = createBudget({ clock, perSecond: 1 });
    for (const uid of names('own', 1000)) wait([own, shared], uid);
    expect(wait([undefined, shared], 'other')).toBeLessThanOrEqual(3000);
    await clock.advance(seconds(30));
    expect(wait([undefined, shared], 'later')).toBe(0);
  });

  test('does not release the slots in the own budget of objects that wait long for the shared one', async () => {
    const { clock, wait } = make();
    const own = createBudget({ clock, perMinute: 1 });
    const shared = createBudget({ clock, perSecond: 1 });
    const went: [string, Instant][] = [];
    const go = (budgets: readonly (Budget | undefined)[], uid: string) => {
      const left = wait(budgets, uid);
      if (left === 0) went.push([uid, clock.now()]);
      else clock.wakeAt((clock.now() + left) as Instant, () => go(budgets, uid));
    };
    const start = clock.now();
    for (const uid of names('other', 1000)) go([undefined, shared], uid);
    for (const uid of names('own', 100)) go([own, shared], uid);
    await clock.advance(millis(3 * 3_600_000));
    expect(went).toHaveLength(1100);
    const minutesOf = (uid: string) => minus(went.find(([other]) => other === uid)![1], start) / 60_000;
    // They wait a thousand seconds for the shared budget, and are then deleted at one per minute, in order.
    expect(minutesOf('own0')).toBeLessThan(17);
    expect(minutesOf('own9')).toBeLessThan(27);
  });
});

test('no budget is exceeded in any window, and every object is deleted (random arrivals)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.tuple(fc.nat(2000), fc.constantFrom('a', 'b', 'c'), fc.constantFrom(0, 7, 90_000)), {
        maxLength: 60,
      }),
      async (narrow, wide, arrivals) => {
        const { clock, wait } = make();
        const shared = createBudget({ clock, perMinute: wide });
        const own = new Map([
          ['a', createBudget({ clock, perMinute: narrow })],
          ['b', createBudget({ clock, perMinute: narrow + 1 })],
        ]);
        const went: { readonly whose: string; readonly at: number }[] = [];
        const go = (whose: string, uid: string, late: number) => {
          const left = wait([own.get(whose), shared], uid);
          if (left === 0) went.push({ whose, at: clock.elapsed() });
          else clock.wakeAt((clock.now() + left + late) as Instant, () => go(whose, uid, late));
        };
        for (const [i, [gap, whose, late]] of arrivals.entries()) {
          await clock.advance(millis(gap));
          go(whose, `u${i}`, late);
        }
        await clock.advance(millis(12 * 3_600_000));
        expect(went).toHaveLength(arrivals.length);
        for (const [limit, names] of [
          [narrow, 'a'],
          [narrow + 1, 'b'],
          [wide, 'abc'],
        ] as const) {
          const times = went.filter(({ whose }) => names.includes(whose)).map(({ at }) => at);
          for (const [i, at] of times.entries())
            if (i >= limit) expect(at - times[i - limit]!).toBeGreaterThanOrEqual(60_000);
        }
      },
    ),
    { numRuns: 100 },
  );
});
