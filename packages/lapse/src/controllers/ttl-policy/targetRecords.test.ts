import fc from 'fast-check';
import { expect, test } from 'vitest';
import { at } from './policy.testkit.ts';
import { KEPT, OUT_OF_SCOPE, TargetRecords } from './targetRecords.ts';

const key = (name: string, namespace?: string) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

test('counts existing targets by their deadlines', () => {
  const records = new TargetRecords(5);
  records.record(key('due', 'a'), at(10));
  records.record(key('exactly', 'a'), at(20));
  records.record(key('later', 'b'), at(40));
  records.record(key('soon', 'b'), at(30));
  records.record(key('kept'), KEPT);
  records.record(key('odd', 'b'), KEPT, 'not a time');
  records.record(key('elsewhere', 'c'), OUT_OF_SCOPE);
  expect([records.size, records.count(at(20))]).toEqual([
    7,
    { matched: 6, due: 2, waiting: 2, errors: 1, next: at(30), example: 'b/odd: not a time' },
  ]);
  records.record(key('odd', 'b'), at(50));
  records.forget(key('soon', 'b'));
  records.forget(key('never seen', 'z'));
  expect([records.size, records.count(at(20))]).toMatchObject([
    6,
    { matched: 5, waiting: 2, errors: 0, next: at(40) },
  ]);
  records.countDeleted();
  expect(records.deleted).toBe(6);
});

test('records that continue others share their count of deletions, which never decreases', () => {
  const before = new TargetRecords(5);
  const after = new TargetRecords(before);
  before.record(key('a'), KEPT);
  // In flight when the policy was edited.
  before.countDeleted();
  after.countDeleted();
  expect([after.deleted, after.size]).toEqual([7, 0]);
  after.continueFrom(3);
  expect(after.deleted).toBe(7);
  after.continueFrom(500);
  after.countDeleted();
  expect(after.deleted).toBe(501);
});

test('has the same size as a plain map (random operations)', () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
    namespace: fc.constantFrom(undefined, 'x', '__proto__'),
    forget: fc.boolean(),
    error: fc.option(fc.constant('e'), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const records = new TargetRecords();
      const model = new Map<string, string | undefined>();
      for (const { name, namespace, forget, error } of steps) {
        const id = `${namespace ?? ''}/${name}`;
        if (forget) {
          records.forget(key(name, namespace));
          model.delete(id);
        } else {
          records.record(key(name, namespace), KEPT, error);
          model.set(id, error);
        }
      }
      const errors = [...model.values()].filter((error) => error !== undefined).length;
      expect([records.size, records.count(at(0)).errors]).toEqual([model.size, errors]);
    }),
    { numRuns: 100 },
  );
});
