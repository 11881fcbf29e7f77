import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Ring } from './ring.ts';

test('returns numbers first in, first out through growth and wrap-around (random commands)', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.integer({ min: -5, max: 2 ** 31 - 1 })), { maxLength: 300 }),
      (commands) => {
        const ring = new Ring(2);
        const model: number[] = [];
        for (const item of commands) {
          if (item === null) expect(ring.shift()).toBe(model.shift());
          else {
            ring.push(item);
            model.push(item);
          }
          expect(ring.size).toBe(model.length);
        }
      },
    ),
  );
});
