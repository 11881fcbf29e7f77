import { expect, test } from 'vitest';
import type { KeyId } from './interner.ts';
import { ReadyKeys } from './readyKeys.ts';

test('entries that nobody wants do not pile up, and the others keep their order', () => {
  const wanted = new Set<number>([1, 2, 3]);
  const keys = new ReadyKeys((id) => wanted.has(id));
  const push = (id: number) => keys.push(id as KeyId, 'normal');
  for (let round = 0; round < 100; round++) {
    // An id is given out again when it is free: it may be among the entries many times.
    for (const id of [3, ...Array.from({ length: 100 }, (_, i) => 100 + i), 1, 2]) push(id);
    keys.tidy(wanted.size);
    expect(keys.size).toBeLessThan(1200);
  }
  const taken: unknown[] = [];
  for (let id = keys.shift(); id !== undefined; id = keys.shift()) {
    taken.push(id);
    wanted.delete(id);
  }
  expect(taken).toEqual([3, 1, 2]);
});
