import { expect, test } from 'vitest';
import { BoundedMap } from './boundedMap.ts';

test('drops the oldest entry when a new key exceeds the limit', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('c', 3);
  expect([...map]).toEqual([
    ['b', 2],
    ['c', 3],
  ]);
});

test('makes an entry the newest when its key is set again', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  expect([...map.keys()]).toEqual(['a', 'c']);
});
