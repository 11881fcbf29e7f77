import { expect, test } from 'vitest';
import type { KeyId } from './interner.ts';
import { ReadyKeys } from './readyKeys.ts';

test('removes stale entries and keeps the order of the others', () => {
  const wanted = new Set<number>([1, 2, 3]);
  const keys = new ReadyKeys((id) => wanted.has(id));
  const push = (id: number) => keys.push(id as KeyId, 'normal');
  for (let round = 0; round < 100; round++) {
    // Ids are reused, so one id may have many entries.
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
