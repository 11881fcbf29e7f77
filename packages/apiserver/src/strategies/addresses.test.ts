// Addresses and ranges in the form that older fields of Kubernetes accept.

import { describe, expect, test } from 'vitest';
import { endpointAddress, legacyAddress, legacyRange } from './addresses.ts';

const messages = (errors: readonly { message: string }[]) =>
  errors.map((e) => e.message.replace(/^Invalid value: "[^"]*": /, ''));

describe('addresses', () => {
  test.each([
    ['10.0.0.1', []],
    ['010.0.0.01', ['must not have leading 0s']],
    ['::1', []],
    ['2001:DB8::1', []],
    ['::ffff:1.2.3.4', ['must not be an IPv4-mapped IPv6 address']],
    ['256.1.1.1', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['1.2.3', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['fe80::1%eth0', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    [`${'1'.repeat(100_000)}.1.1.1`, ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
  ])('%.40s', (text, complaints) => {
    expect(messages(legacyAddress(text, 'x'))).toEqual(complaints);
  });

  test.each([
    ['1.2.3.4', 0],
    ['127.0.0.1', 1],
    ['::1', 1],
    ['0:0:0:0:0:0:0:1', 1],
    ['0.0.0.0', 1],
    ['169.254.1.1', 1],
    ['fe80::1', 1],
    ['224.0.0.1', 1],
    ['x', 1],
  ])('%s as an endpoint', (text, complaints) => {
    expect(endpointAddress(text, 'x')).toHaveLength(complaints);
  });
});

describe('ranges', () => {
  test.each([
    ['10.0.0.0/8', []],
    ['2001:db8::/64', []],
    ['10.0.0.1/8', ['must not have bits set beyond the prefix length']],
    ['2001:db8::1/64', ['must not have bits set beyond the prefix length']],
    ['10.0.0.0/08', ['must not have leading 0s in IP or prefix length']],
    ['10.0.0.0/33', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    ['10.0.0.0', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
    ['/8', ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']],
  ])('%s', (text, complaints) => {
    expect(messages(legacyRange(text, 'x'))).toEqual(complaints);
  });
});
