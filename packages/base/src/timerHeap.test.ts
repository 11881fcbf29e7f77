import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instant } from './instant.ts';
import { TimerHeap } from './timerHeap.ts';

const command = fc.oneof(
  fc.record({ do: fc.constant('set' as const), id: fc.nat(40), at: fc.nat(100) }),
  fc.record({ do: fc.constant('setEarlier' as const), id: fc.nat(40), at: fc.nat(100) }),
  fc.record({ do: fc.constant('delete' as const), id: fc.nat(40), at: fc.constant(0) }),
  fc.record({ do: fc.constant('popDue' as const), id: fc.constant(0), at: fc.nat(100) }),
);

test('behaves like a map of deadlines that returns the earliest due entry (random commands)', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
      const heap = new TimerHeap(1);
      const model = new Map<number, number>();
      for (const c of commands) {
        const earliest = Math.min(...model.values());
        switch (c.do) {
          case 'set':
            heap.set(c.id, instant(c.at));
            model.set(c.id, c.at);
            break;
          case 'setEarlier': {
            const sets = !(model.get(c.id)! <= c.at);
            expect(heap.setEarlier(c.id, instant(c.at))).toBe(sets);
            if (sets) model.set(c.id, c.at);
            break;
          }
          case 'delete':
            expect(heap.delete(c.id)).toBe(model.delete(c.id));
            break;
          case 'popDue': {
            const id = heap.popDue(instant(c.at));
            if (earliest > c.at) expect(id).toBeUndefined();
            else {
              expect(model.get(id!)).toBe(earliest);
              model.delete(id!);
            }
          }
        }
        expect(heap.size).toBe(model.size);
        expect(heap.peek()).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
        for (const [id, at] of model) expect(heap.get(id)).toBe(at);
      }
    }),
    { numRuns: 300 },
  );
});

test('a deadline is due at its own instant', () => {
  const heap = new TimerHeap();
  heap.set(7, instant(1000));
  expect([heap.popDue(instant(999)), heap.popDue(instant(1000)), heap.popDue(instant(1000))]).toEqual([
    undefined,
    7,
    undefined,
  ]);
});
