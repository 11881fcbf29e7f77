import { describe, expect, test } from 'vitest';
import {
  formatAddress,
  formatPrefix,
  isInside,
  parseAddress,
  parseSloppyAddress,
  parseSloppyPrefix,
} from './ipAddress.ts';

describe('strict addresses have the errors of net/netip', () => {
  test.each([
    ['', 'unable to parse IP'],
    ['1.2.3', 'IPv4 address too short'],
    ['1.2.3.4.5', 'IPv4 address too long'],
    ['1.2.03.4', 'IPv4 field has octet with leading zero'],
    ['1.2.256.4', 'IPv4 field has value >255'],
    ['1.2.x.4', 'unexpected character (at "x.4")'],
    ['.2.3.4', 'IPv4 field must have at least one digit (at ".2.3.4")'],
    ['1..3.4', 'IPv4 field must have at least one digit (at ".3.4")'],
    ['1.2.3.', 'IPv4 field must have at least one digit (at ".")'],
    ['1::2::3', 'multiple :: in address (at ":3")'],
    ['12345::', 'each group must have 4 or less digits (at "12345::")'],
  ])('%j: %s', (text, problem) => {
    expect(parseAddress(text)).toEqual({ problem });
  });
});

describe('sloppy addresses may have leading zeros', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['010.0.0.01', '10.0.0.1'],
    ['000.0.0.0', '0.0.0.0'],
    ['::1', '::1'],
    ['2001:DB8::0001', '2001:db8::1'],
    ['00001::', '1::'],
    ['::ffff:1.2.3.4', '::ffff:102:304'],
    ['256.1.1.1', undefined],
    ['1.2.3', undefined],
    ['1:1.2.3.4::', undefined],
    ['fe80::1%eth0', undefined],
    ['', undefined],
    [`${'1'.repeat(100_000)}.1.1.1`, undefined],
  ])('%.40s is %s', (text, formatted) => {
    const address = parseSloppyAddress(text);
    expect(address && formatAddress(address)).toBe(formatted);
  });

  test.each([
    ['010.0.0.1/08', '10.0.0.1/8'],
    ['::/0', '::/0'],
    ['10.0.0.0', undefined],
    ['10.0.0.0/33', undefined],
    ['10.0.0.0/0a', undefined],
    ['/8', undefined],
    ['fe80::1%eth0/8', undefined],
  ])('the range %s is %s', (text, formatted) => {
    const prefix = parseSloppyPrefix(text);
    expect(prefix && formatPrefix(prefix)).toBe(formatted);
  });
});

test.each([
  ['10.1.0.0/16', '10.0.0.0/8', true],
  ['10.0.0.0/8', '10.0.0.0/8', false],
  ['11.0.0.0/16', '10.0.0.0/8', false],
  ['2001:db8:1::/48', '2001:db8::/32', true],
  ['::/96', '0.0.0.0/0', false],
])('%s is inside %s: %s', (inner, outer, inside) => {
  expect(isInside(parseSloppyPrefix(inner)!, parseSloppyPrefix(outer)!)).toBe(inside);
});
