// IP addresses and CIDR ranges as the older fields of Kubernetes accept them: leading zeros in IPv4 are tolerated.

import { isIP, isIPv4, isIPv6 } from 'node:net';
import { type FieldError, invalid } from '#api/fieldErrors';

/** The address without leading zeros; undefined when it is none. */
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

export const legacyAddress = (text: string, path: string): FieldError[] =>
  parseAddress(text) === undefined
    ? [invalid(path, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
    : [];

export const legacyRange = (text: string, path: string): FieldError[] =>
  parseRange(text) === undefined
    ? [invalid(path, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
    : [];

/** The four bytes of an IPv4 address as a number. */
export const ipv4Number = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

export const ipv4Text = (n: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join('.');

/** What an endpoint may not be: unspecified, loopback or link-local. */
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
