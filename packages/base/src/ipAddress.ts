// IP addresses and prefixes, parsed and formatted like Go's net/netip.

export interface IpAddress {
  readonly family: 4 | 6;
  readonly bits: bigint;
  readonly zone: string;
}

export interface IpPrefix {
  readonly address: IpAddress;
  readonly length: number;
}

export const width = (family: 4 | 6): number => (family === 4 ? 32 : 128);

/** The parse error with the message of net/netip, including the rest of the text where net/netip does. */
class ParseError extends Error {
  constructor(why: string, rest?: string) {
    super(rest === undefined ? why : `${why} (at ${JSON.stringify(rest)})`);
  }
}

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

function attempt<T>(parse: () => T): Parsed<T> {
  try {
    return { value: parse() };
  } catch (e) {
    if (e instanceof ParseError) return { problem: e.message };
    throw e;
  }
}

function readV4(text: string): bigint {
  let bits = 0n;
  let start = 0;
  // Five fields decide: a fifth one is already too long.
  const fields = text.split('.', 5);
  for (const [n, field] of fields.entries()) {
    checkOctet(text, field, start);
    if (n > 3) throw new ParseError('IPv4 address too long');
    bits = (bits << 8n) | BigInt(field);
    start += field.length + 1;
  }
  if (fields.length < 4) throw new ParseError('IPv4 address too short');
  return bits;
}

/** `start` is the position of the field in the text. */
function checkOctet(text: string, field: string, start: number): void {
  const bad = /[^0-9]/.exec(field);
  if (bad !== null) throw new ParseError('unexpected character', text.slice(start + bad.index));
  if (field === '')
    throw new ParseError(
      'IPv4 field must have at least one digit',
      start === 0 ? text : `.${text.slice(start + 1)}`,
    );
  if (field.length > 1 && field.startsWith('0'))
    throw new ParseError('IPv4 field has octet with leading zero');
  if (Number(field) > 255) throw new ParseError('IPv4 field has value >255');
}

/** Reads the groups of an IPv6 address from left to right. */
class GroupReader {
  readonly groups: bigint[] = [];
  /** Number of groups before the `::`, or -1 without one. */
  ellipsis = -1;
  rest: string;

  constructor(text: string) {
    this.rest = text;
    if (text.startsWith('::')) {
      this.ellipsis = 0;
      this.rest = text.slice(2);
    }
  }

  readAll(): void {
    while (this.groups.length < 8 && this.rest !== '') {
      const digits = /^[0-9a-fA-F]*/.exec(this.rest)![0];
      if (digits.length > 4) throw new ParseError('each group must have 4 or less digits', this.rest);
      if (digits === '')
        throw new ParseError('each colon-separated field must have at least one digit', this.rest);
      if (this.rest[digits.length] === '.') {
        this.#embedV4();
        continue;
      }
      this.groups.push(BigInt(`0x${digits}`));
      this.#separator(digits.length);
    }
    if (this.rest !== '') throw new ParseError('trailing garbage after address', this.rest);
  }

  #embedV4(): void {
    const at = this.groups.length;
    if (this.ellipsis < 0 && at !== 6) {
      throw new ParseError('embedded IPv4 address must replace the final 2 fields of the address', this.rest);
    }
    if (at > 6)
      throw new ParseError(
        'too many hex fields to fit an embedded IPv4 at the end of the address',
        this.rest,
      );
    const v4 = readV4(this.rest);
    this.groups.push(v4 >> 16n, v4 & 0xffffn);
    this.rest = '';
  }

  #separator(at: number): void {
    this.rest = this.rest.slice(at);
    if (this.rest === '') return;
    if (!this.rest.startsWith(':')) throw new ParseError('unexpected character, want colon', this.rest);
    if (this.rest === ':') throw new ParseError('colon must be followed by more characters', this.rest);
    this.rest = this.rest.slice(1);
    if (!this.rest.startsWith(':')) return;
    if (this.ellipsis >= 0) throw new ParseError('multiple :: in address', this.rest);
    this.ellipsis = this.groups.length;
    this.rest = this.rest.slice(1);
  }
}

function readV6(text: string): bigint {
  const reader = new GroupReader(text);
  reader.readAll();
  const { groups, ellipsis } = reader;
  const missing = 8 - groups.length;
  if (missing > 0 && ellipsis < 0) throw new ParseError('address string too short');
  if (missing === 0 && ellipsis >= 0)
    throw new ParseError('the :: must expand to at least one field of zeros');
  const all = missing === 0 ? groups : groups.toSpliced(ellipsis, 0, ...Array<bigint>(missing).fill(0n));
  return all.reduce((bits, g) => (bits << 16n) | g, 0n);
}

function readAddress(text: string): IpAddress {
  const kind = /[.:%]/.exec(text)?.[0];
  if (kind === '.') return { family: 4, bits: readV4(text), zone: '' };
  if (kind === '%') throw new ParseError('missing IPv6 address');
  if (kind === undefined) throw new ParseError('unable to parse IP');
  const percent = text.indexOf('%');
  if (percent === text.length - 1) throw new ParseError('zone must be a non-empty string');
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  return { family: 6, bits: readV6(percent < 0 ? text : text.slice(0, percent)), zone };
}

export const parseAddress = (text: string): Parsed<IpAddress> => attempt(() => readAddress(text));

function readPrefix(text: string): IpPrefix {
  const slash = text.lastIndexOf('/');
  if (slash < 0) throw new ParseError("no '/'");
  const parsed = parseAddress(text.slice(0, slash));
  if ('problem' in parsed)
    throw new ParseError(`ParseAddr(${JSON.stringify(text.slice(0, slash))}): ${parsed.problem}`);
  const address = parsed.value;
  if (address.zone !== '') throw new ParseError('IPv6 zones cannot be present in a prefix');
  const digits = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d*)$/.test(digits))
    throw new ParseError(`bad bits after slash: ${JSON.stringify(digits)}`);
  if (Number(digits) > width(address.family)) throw new ParseError('prefix length out of range');
  return { address, length: Number(digits) };
}

export const parsePrefix = (text: string): Parsed<IpPrefix> => attempt(() => readPrefix(text));

const LEADING_ZEROS = /(?<=^|[.:/])0+(?=[0-9a-f])/gi;

/** The address by the rules of Kubernetes' ParseIPSloppy: leading zeros are valid, zones are not. */
export function parseSloppyAddress(text: string): IpAddress | undefined {
  const parsed = parseAddress(text.replace(LEADING_ZEROS, ''));
  return 'value' in parsed && parsed.value.zone === '' ? parsed.value : undefined;
}

/** The prefix by the rules of Kubernetes' ParseCIDRSloppy. The address keeps the bits after the prefix. */
export function parseSloppyPrefix(text: string): IpPrefix | undefined {
  const parsed = parsePrefix(text.replace(LEADING_ZEROS, ''));
  return 'value' in parsed ? parsed.value : undefined;
}

/** True for ::ffff:a.b.c.d. */
export const isMapped = (a: IpAddress): boolean => a.family === 6 && a.bits >> 32n === 0xffffn;

const groupsOf = (bits: bigint): number[] =>
  Array.from({ length: 8 }, (_, i) => Number((bits >> BigInt(112 - 16 * i)) & 0xffffn));

export function formatAddress({ family, bits }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((s) => String((bits >> s) & 0xffn)).join('.');
  const groups = groupsOf(bits);
  const { start, length } = longestZeros(groups);
  const hex = (part: number[]) => part.map((g) => g.toString(16)).join(':');
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

/** The first of the longest runs of zero groups. */
function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > best.length) best = { start, length: i - start };
    start = i + 1;
  }
  return best;
}

export const formatPrefix = (p: IpPrefix): string => `${formatAddress(p.address)}/${p.length}`;

/** The address with all bits after the prefix cleared. */
export function maskBits({ family, bits }: IpAddress, length: number): bigint {
  const rest = BigInt(width(family) - length);
  return (bits >> rest) << rest;
}

export const contains = (p: IpPrefix, a: IpAddress): boolean =>
  p.address.family === a.family && maskBits(a, p.length) === maskBits(p.address, p.length);

/** Whether all addresses of a prefix are in another prefix, which is larger. */
export const isInside = (inner: IpPrefix, outer: IpPrefix): boolean =>
  inner.length > outer.length && contains(outer, inner.address);

const inV4 = (a: IpAddress, from: bigint, length: number): boolean =>
  a.family === 4 && maskBits(a, length) === from;
const inV6 = (a: IpAddress, from: bigint, length: number): boolean =>
  a.family === 6 && maskBits(a, length) === from;

export const isUnspecified = (a: IpAddress): boolean => a.bits === 0n;
export const isLoopback = (a: IpAddress): boolean =>
  inV4(a, 0x7f000000n, 8) || (a.family === 6 && a.bits === 1n);
export const isLinkLocalMulticast = (a: IpAddress): boolean =>
  inV4(a, 0xe0000000n, 24) ||
  (a.family === 6 && a.bits >> 120n === 0xffn && ((a.bits >> 112n) & 0xfn) === 2n);
export const isLinkLocalUnicast = (a: IpAddress): boolean =>
  inV4(a, 0xa9fe0000n, 16) || inV6(a, 0xfe80n << 112n, 10);
const isMulticast = (a: IpAddress): boolean => inV4(a, 0xe0000000n, 4) || inV6(a, 0xffn << 120n, 8);
export const isGlobalUnicast = (a: IpAddress): boolean =>
  !isUnspecified(a) &&
  !(a.family === 4 && a.bits === 0xffffffffn) &&
  !isLoopback(a) &&
  !isMulticast(a) &&
  !isLinkLocalUnicast(a);
