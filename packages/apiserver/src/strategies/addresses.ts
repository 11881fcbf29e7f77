// IP addresses and CIDR ranges in the form that older fields of Kubernetes accept: IPv4 with leading zeros is valid.

import { isIP, isIPv4, isIPv6 } from 'node:net';
import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';

/** The address without leading zeros; undefined when it is invalid. */
export function parseAddress(text: string): string | undefined {
  if (/^\d+(\.\d+){3}$/.test(text)) {
    const parts = text.split('.').map(Number);
    return parts.every((p) => p <= 255) ? parts.join('.') : undefined;
  }
  return isIPv6(text) && !text.includes('%') ? text.toLowerCase() : undefined;
}

export interface Range {
  readonly address: string;
  readonly bits: number;
}

export function parseRange(text: string): Range | undefined {
  const match = /^([^/]+)\/(\d{1,3})$/.exec(text);
  const address = match ? parseAddress(match[1]!) : undefined;
  if (address === undefined) return undefined;
  const bits = Number(match![2]);
  return bits <= (isIPv4(address) ? 32 : 128) ? { address, bits } : undefined;
}

export const isVersion6 = (address: string) => isIP(address) === 6;

const LEADING_ZERO = /(^|\.)0\d/;
const MAPPED = /^::ffff:/i;

export function legacyAddress(text: string, path: string): FieldError[] {
  if (parseAddress(text) === undefined)
    return [invalid(path, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  if (LEADING_ZERO.test(text)) return [invalid(path, text, 'must not have leading 0s')];
  return MAPPED.test(text) ? [invalid(path, text, 'must not be an IPv4-mapped IPv6 address')] : [];
}

export function legacyRange(text: string, path: string): FieldError[] {
  const range = parseRange(text);
  if (!range) return [invalid(path, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  if (LEADING_ZERO.test(text) || /\/0\d/.test(text))
    return [invalid(path, text, 'must not have leading 0s in IP or prefix length')];
  if (MAPPED.test(text)) return [invalid(path, text, 'must not have an IPv4-mapped IPv6 address')];
  return hasHostBits(range) ? [invalid(path, text, 'must not have bits set beyond the prefix length')] : [];
}

const hasHostBits = ({ address, bits }: Range): boolean => {
  const size = isIPv4(address) ? 32n : 128n;
  return addressBits(address) % (1n << (size - BigInt(bits))) !== 0n;
};

/** Whether a range is strictly inside another one of the same family. */
export function isInside(inner: Range, outer: Range): boolean {
  const size = isIPv4(outer.address) ? 32n : 128n;
  if (isIPv4(inner.address) !== isIPv4(outer.address) || inner.bits <= outer.bits) return false;
  const shift = size - BigInt(outer.bits);
  return addressBits(inner.address) >> shift === addressBits(outer.address) >> shift;
}

/** The address as one number. */
function addressBits(address: string): bigint {
  if (isIPv4(address)) return BigInt(ipv4Number(address));
  const [head = '', tail] = address.replace(/\d+(\.\d+){3}$/, dottedToHex).split('::');
  const groups = (part: string | undefined) => (part ? part.split(':') : []);
  const [before, after] = [groups(head), groups(tail)];
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((sum, g) => (sum << 16n) | BigInt(`0x${g}`), 0n);
}

const dottedToHex = (dotted: string): string => {
  const n = ipv4Number(dotted);
  return `${Math.floor(n / 65_536).toString(16)}:${(n % 65_536).toString(16)}`;
};

/** The four bytes of an IPv4 address as a number. */
export const ipv4Number = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

export const ipv4Text = (n: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join('.');

/** Rejects addresses that endpoints cannot have: unspecified, loopback or link-local. */
export function endpointAddress(text: string, path: string): FieldError[] {
  const address = parseAddress(text);
  if (address === undefined) return [invalid(path, text, 'must be a valid IP address')];
  const errors: FieldError[] = [];
  const refuse = (pattern: RegExp, why: string) => {
    if (pattern.test(address)) errors.push(invalid(path, text, why));
  };
  refuse(/^(0\.0\.0\.0|::)$/, `may not be unspecified (${text})`);
  refuse(/^(127\.|::1$)/, 'may not be in the loopback range (127.0.0.0/8, ::1/128)');
  refuse(/^(169\.254\.|fe[89ab][0-9a-f]:)/, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  refuse(/^(224\.0\.0\.|ff02:)/, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  return errors;
}
