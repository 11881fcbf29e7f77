// IP addresses and CIDR ranges in the form that older fields of Kubernetes accept: IPv4 with leading zeros is valid.

import {
  type IpAddress,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isMapped,
  isUnspecified,
  maskBits,
  parseSloppyAddress,
  parseSloppyPrefix,
} from '@lapse/base/ipAddress';
import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';

const LEADING_ZERO = /(^|\.)0\d/;

export function legacyAddress(text: string, path: string): FieldError[] {
  const address = parseSloppyAddress(text);
  if (address === undefined)
    return [invalid(path, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  if (LEADING_ZERO.test(text)) return [invalid(path, text, 'must not have leading 0s')];
  return isMapped(address) ? [invalid(path, text, 'must not be an IPv4-mapped IPv6 address')] : [];
}

export function legacyRange(text: string, path: string): FieldError[] {
  const range = parseSloppyPrefix(text);
  if (!range) return [invalid(path, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  if (LEADING_ZERO.test(text) || /\/0\d/.test(text))
    return [invalid(path, text, 'must not have leading 0s in IP or prefix length')];
  if (isMapped(range.address)) return [invalid(path, text, 'must not have an IPv4-mapped IPv6 address')];
  return maskBits(range.address, range.length) === range.address.bits
    ? []
    : [invalid(path, text, 'must not have bits set beyond the prefix length')];
}

const REFUSED_ENDPOINTS: readonly [(address: IpAddress) => boolean, (text: string) => string][] = [
  [isUnspecified, (text) => `may not be unspecified (${text})`],
  [isLoopback, () => 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [isLinkLocalUnicast, () => 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [isLinkLocalMulticast, () => 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** Rejects addresses that endpoints cannot have: unspecified, loopback or link-local. */
export function endpointAddress(text: string, path: string): FieldError[] {
  const address = parseSloppyAddress(text);
  if (address === undefined) return [invalid(path, text, 'must be a valid IP address')];
  return REFUSED_ENDPOINTS.filter(([isRefused]) => isRefused(address)).map(([, why]) =>
    invalid(path, text, why(text)),
  );
}
