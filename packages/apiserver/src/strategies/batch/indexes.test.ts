// Index lists of Jobs.

import { describe, expect, test } from 'vitest';
import { countIndexes, firstOverlap, IndexError } from './indexes.ts';

describe('counting', () => {
  test.each([
    ['', 10, 0],
    ['0', 10, 1],
    ['0,2-4,7', 10, 5],
    ['0-9', 10, 10],
    ['9', 10, 1],
    ['+1', 10, 1],
    ['0-999999', 1_000_000, 1_000_000],
  ])('%j of %d', (list, completions, count) => {
    expect(countIndexes(list, completions)).toBe(count);
  });

  test.each([
    ['x', 'cannot convert string to integer for index: "x"'],
    [' 1', 'cannot convert string to integer for index: " 1"'],
    ['1,', 'cannot convert string to integer for index: ""'],
    ['-1', 'cannot convert string to integer for index: ""'],
    [
      '1-2-3',
      'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'',
    ],
    ['10', 'too large index: "10"'],
    ['0-10', 'too large index: "10"'],
    ['2-1', 'non-increasing order, previous: 2, current: 1'],
    ['1-1', 'non-increasing order, previous: 1, current: 1'],
    ['1,1', 'non-increasing order, previous: 1, current: 1'],
    ['0-3,2', 'non-increasing order, previous: 3, current: 2'],
    ['9'.repeat(400), `too large index: "${'9'.repeat(400)}"`],
  ])('%j is refused', (list, why) => {
    expect(() => countIndexes(list, 10)).toThrow(new IndexError(why));
  });
});

describe('overlap', () => {
  test.each([
    ['', '', undefined],
    ['0-3', '4-6', undefined],
    ['0-3', '3-6', 3],
    ['0,5', '1-4,5', 5],
    ['7', '0-9', 7],
    ['0-9', '2,4', 2],
    ['x,3', '3', 3],
    ['x', 'y', undefined],
  ])('%j and %j', (a, b, first) => {
    expect(firstOverlap(a, b, 10)).toBe(first);
  });

  test('processes long lists in linear time', () => {
    const even = Array.from({ length: 50_000 }, (_, i) => 2 * i).join(',');
    const odd = Array.from({ length: 50_000 }, (_, i) => 2 * i + 1).join(',');
    expect(firstOverlap(even, odd, 100_000)).toBeUndefined();
  });
});
