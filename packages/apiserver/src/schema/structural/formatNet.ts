// Addresses as Go's net package parses them. IPv4 and CIDR allow leading zeros, as Kubernetes does for old objects;
// IPv6 does not.

/** Octets with leading zeros are accepted when `sloppy`. */
function isV4(text: string, sloppy: boolean): boolean {
  const octets = text.split('.');
  if (octets.length !== 4) return false;
  return octets.every((octet) => {
    if (!/^\d+$/.test(octet) || octet.length > 9 || Number(octet) > 255) return false;
    return sloppy || octet.length === 1 || octet[0] !== '0';
  });
}

function isV6(text: string, sloppy: boolean): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groupsOf = (half: string): string[] => (half === '' ? [] : half.split(':'));
  const head = groupsOf(halves[0]!);
  const tail = halves.length === 2 ? groupsOf(halves[1]!) : [];
  const groups = [...head, ...tail];
  const last = groups.at(-1) ?? '';
  let length = groups.length;
  if (last.includes('.')) {
    // The end may be an IPv4 address, which counts as two groups.
    if (!isV4(last, sloppy)) return false;
    groups.pop();
    length++;
  }
  const group = sloppy ? /^0*[0-9a-f]{1,4}$/i : /^[0-9a-f]{1,4}$/i;
  if (!groups.every((g) => group.test(g))) return false;
  return halves.length === 2 ? length < 8 : length === 8;
}

/** The first dot or colon determines how the sloppy parser reads the text. */
const isSloppyIp = (text: string): boolean => {
  const mark = /[.:]/.exec(text)?.[0];
  return mark === '.' ? isV4(text, true) : mark === ':' && isV6(text, true);
};

export const isIpv4 = (text: string): boolean => text.includes('.') && isSloppyIp(text);
export const isIpv6 = (text: string): boolean => text.includes(':') && isV6(text, false);
/** Strict IPv4 or IPv6. */
export const isIp = (text: string): boolean => isV4(text, false) || isIpv6(text);

export function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  if (!/^\d{1,9}$/.test(bits)) return false;
  if (isV4(address, true)) return Number(bits) <= 32;
  return isV6(address, true) && Number(bits) <= 128;
}

/** Six, eight or twenty bytes: `00:00:5e:00:53:01`, `00-00-5e-…` or `0000.5e00.5301`. */
export function isMac(text: string): boolean {
  const pairs = /^[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1)*[0-9a-f]{2}$/i.test(text);
  const quads = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text);
  const bytes = text.replace(/[:.-]/g, '').length / 2;
  return (pairs || quads) && (bytes === 6 || bytes === 8 || bytes === 20);
}
