// url.ParseRequestURI of Go: an absolute URI or an absolute path.

import { isIpv6 } from './formatNet.ts';

const isEscaped = (text: string): boolean => !/%(?![0-9a-fA-F]{2})/.test(text);
/** In hosts only non-ASCII bytes (and the percent sign itself) may be escaped. */
const isHostText = (text: string): boolean => isZoneText(text) && !/%(?!25)[0-7]/.test(text);
const isZoneText = (text: string): boolean =>
  isEscaped(text) && /^[a-zA-Z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]*$/.test(text);
const isPort = (text: string): boolean => /^(?::\d*)?$/.test(text);

export function isRequestUri(text: string): boolean {
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return false;
  if (text === '*') return true;
  if (text.startsWith(':')) return false;
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1] ?? '';
  let rest = scheme === '' ? text : text.slice(scheme.length + 1);
  const query = rest.indexOf('?');
  if (query >= 0) rest = rest.slice(0, query);
  // A URI with a scheme and no path (mailto:x) is not parsed further.
  if (!rest.startsWith('/')) return scheme !== '';
  if (scheme === '' || !rest.startsWith('//')) return isEscaped(rest);
  const slash = rest.indexOf('/', 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  return isAuthority(authority, scheme.toLowerCase()) && (slash < 0 || isEscaped(rest.slice(slash)));
}

function isAuthority(authority: string, scheme: string): boolean {
  const at = authority.lastIndexOf('@');
  if (!isHost(authority.slice(at + 1), scheme)) return false;
  if (at < 0) return true;
  const user = authority.slice(0, at);
  return isEscaped(user) && /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user);
}

function isHost(host: string, scheme: string): boolean {
  const open = host.lastIndexOf('[');
  if (open > 0) return false;
  if (open === 0) return isBracketed(host);
  const first = host.indexOf(':');
  const strict = scheme === 'http' || scheme === 'https';
  if (first >= 0 && !isPort(host.slice(strict ? first : host.lastIndexOf(':')))) return false;
  return isHostText(host);
}

function isBracketed(host: string): boolean {
  const close = host.lastIndexOf(']');
  if (close < 0 || !isPort(host.slice(close + 1))) return false;
  const address = host.slice(1, close);
  const zone = address.indexOf('%25');
  if (zone < 0) return isIpv6(address);
  return address.length > zone + 3 && isZoneText(address.slice(zone)) && isIpv6(address.slice(0, zone));
}
