import { describe, expect, it } from 'vitest';
import { readGoDuration, splitNanos } from './goDuration.ts';

describe('readGoDuration', () => {
  it.each([
    ['0', 0, 0],
    ['360h', 1_296_000, 0],
    ['1h30m', 5400, 0],
    ['1.5s', 1, 500_000_000],
    ['-1.5s', -2, 500_000_000],
    ['.5ms', 0, 500_000],
    ['1.s', 1, 0],
    ['+3us', 0, 3000],
    ['3µs', 0, 3000],
    ['1ns', 0, 1],
    ['2562047h47m16.854775807s', 9_223_372_036, 854_775_807],
    ['-2562047h47m16.854775808s', -9_223_372_037, 145_224_192],
  ])('%s', (text, seconds, nanos) => {
    expect(splitNanos(readGoDuration(text)!)).toEqual({ seconds, nanos });
  });

  it.each([
    '',
    '-',
    '1',
    '1d',
    '2 weeks',
    '1h ',
    ' 1h',
    '.s',
    's',
    '1e3s',
    '1h-1m',
    '2562047h47m16.854775808s',
  ])('%j is rejected', (text) => {
    expect(readGoDuration(text)).toBeUndefined();
  });
});
