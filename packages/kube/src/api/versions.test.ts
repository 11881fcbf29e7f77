import { describe, expect, it } from 'vitest';
import { compareVersions } from './versions.ts';

describe('compareVersions', () => {
  it.each([
    ['equal numbers are equal', '5', '5', 0],
    ['a smaller number is older', '5', '6', -1],
    ['a larger number is newer', '6', '5', 1],
    ['more digits is newer, regardless of the first digit', '10', '9', 1],
    ['fewer digits is older', '9', '10', -1],
    ['numbers beyond 2^53 keep their order', '9007199254740993', '9007199254740992', 1],
    ['numbers beyond int64 keep their order', '92233720368547758080', '92233720368547758081', -1],
    ['zero is not a version', '0', '5', undefined],
    ['a leading zero is not a version', '05', '5', undefined],
    ['the empty text is not a version', '', '5', undefined],
    ['a missing version is not comparable', undefined, '5', undefined],
    ['letters are not comparable, even with themselves', 'abc', 'abc', undefined],
    ['a sign is not allowed', '-1', '5', undefined],
    ['a fraction is not allowed', '1.5', '5', undefined],
    ['white space is not allowed', ' 5', '5', undefined],
  ] as const)('%s', (_rule, a, b, answer) => {
    expect(compareVersions(a, b)).toBe(answer);
  });
});
