import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Book, KEPT, NOT_MEANT } from './book.ts';
import { at } from './policy.testkit.ts';

const key = (name: string, namespace?: string) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

test('counts what is there, by when it ends', () => {
  const book = new Book(5);
  book.record(key('due', 'a'), at(10));
  book.record(key('exactly', 'a'), at(20));
  book.record(key('later', 'b'), at(40));
  book.record(key('soon', 'b'), at(30));
  book.record(key('kept'), KEPT);
  book.record(key('odd', 'b'), KEPT, 'not a time');
  book.record(key('elsewhere', 'c'), NOT_MEANT);
  expect([book.size, book.count(at(20))]).toEqual([
    7,
    { matched: 6, due: 2, waiting: 2, errors: 1, next: at(30), example: 'b/odd: not a time' },
  ]);
  book.record(key('odd', 'b'), at(50));
  book.forget(key('soon', 'b'));
  book.forget(key('never seen', 'z'));
  expect([book.size, book.count(at(20))]).toMatchObject([
    6,
    { matched: 5, waiting: 2, errors: 0, next: at(40) },
  ]);
  book.countDeleted();
  expect(book.deleted).toBe(6);
});

test('a book that continues another counts with it, and never less than another replica has', () => {
  const before = new Book(5);
  const after = new Book(before);
  before.record(key('a'), KEPT);
  // Under way when the policy was edited.
  before.countDeleted();
  after.countDeleted();
  expect([after.deleted, after.size]).toEqual([7, 0]);
  after.continueFrom(3);
  expect(after.deleted).toBe(7);
  after.continueFrom(500);
  after.countDeleted();
  expect(after.deleted).toBe(501);
});

test('its size is that of a plain map, whatever happens (random)', () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', '__proto__', 'constructor'),
    namespace: fc.constantFrom(undefined, 'x', '__proto__'),
    forget: fc.boolean(),
    error: fc.option(fc.constant('e'), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const book = new Book();
      const model = new Map<string, string | undefined>();
      for (const { name, namespace, forget, error } of steps) {
        const id = `${namespace ?? ''}/${name}`;
        if (forget) {
          book.forget(key(name, namespace));
          model.delete(id);
        } else {
          book.record(key(name, namespace), KEPT, error);
          model.set(id, error);
        }
      }
      const errors = [...model.values()].filter((error) => error !== undefined).length;
      expect([book.size, book.count(at(0)).errors]).toEqual([model.size, errors]);
    }),
    { numRuns: 100 },
  );
});
