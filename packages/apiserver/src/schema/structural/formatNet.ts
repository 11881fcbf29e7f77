// Addresses as Go's net package parses them. IPv4 and CIDR allow leading zeros, as Kubernetes does for old objects;
// IPv6 does not.

import { parseAddress, parseSloppyAddress, parseSloppyPrefix } from '@lapse/base/ipAddress';

/** Longer runs of digits are refused, even if they are leading zeros. */
const TOO_LONG = /\d{10}/;
const isSloppyIp = (text: string): boolean => !TOO_LONG.test(text) && parseSloppyAddress(text) !== undefined;

export const isIpv4 = (text: string): boolean => text.includes('.') && isSloppyIp(text);
export const isIpv6 = (text: string): boolean => text.includes(':') && isIp(text);
/** Strict IPv4 or IPv6. */
export function isIp(text: string): boolean {
  const parsed = parseAddress(text);
  return 'value' in parsed && parsed.value.zone === '';
}

export const isCidr = (text: string): boolean =>
  !TOO_LONG.test(text) && parseSloppyPrefix(text) !== undefined;

/** Six, eight or twenty bytes: `00:00:5e:00:53:01`, `00-00-5e-…` or `0000.5e00.5301`. */
export function isMac(text: string): boolean {
  const pairs = /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1)*[0-9a-f]{2}$/i.test(text);
  const quads = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text);
  const bytes = text.replace(/[:.-]/g, '').length / 2;
  return (pairs || quads) && (bytes === 6 || bytes === 8 || bytes === 20);
}
