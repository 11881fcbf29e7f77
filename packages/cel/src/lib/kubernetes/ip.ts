// ip() and cidr(): IP addresses and networks.

import {
  contains,
  formatAddress,
  formatPrefix,
  type IpAddress,
  type IpPrefix,
  isGlobalUnicast,
  isLinkLocalMulticast,
  isLinkLocalUnicast,
  isLoopback,
  isMapped,
  isUnspecified,
  maskBits,
  parseAddress,
  parsePrefix,
} from '@lapse/base/ipAddress';
import { type CallCost, fn, fnAt, type Library, member, overload, working } from '../../declarations.ts';
import { typeConstant } from '../../environment.ts';
import { sizeOf, traversal } from '../../sizes.ts';
import { BOOL, INT, opaque, STRING } from '../../types.ts';
import { type Failure, fail, Opaque, type Value } from '../../values.ts';

const IP = opaque('net.IP');
const CIDR = opaque('net.CIDR');

class IpValue extends Opaque {
  readonly opaqueAddress: IpAddress;

  constructor(address: IpAddress) {
    super();
    this.opaqueAddress = address;
  }

  opaqueType() {
    return IP;
  }

  opaqueEquals(other: Value): boolean {
    if (!(other instanceof IpValue)) return false;
    return (
      this.opaqueAddress.family === other.opaqueAddress.family &&
      this.opaqueAddress.bits === other.opaqueAddress.bits
    );
  }

  override opaqueSize(): number {
    return this.opaqueAddress.family === 4 ? 4 : 16;
  }
}

class CidrValue extends Opaque {
  readonly opaquePrefix: IpPrefix;

  constructor(prefix: IpPrefix) {
    super();
    this.opaquePrefix = prefix;
  }

  opaqueType() {
    return CIDR;
  }

  opaqueEquals(other: Value): boolean {
    return other instanceof CidrValue && formatPrefix(this.opaquePrefix) === formatPrefix(other.opaquePrefix);
  }

  override opaqueSize(): number {
    return Math.ceil(this.opaquePrefix.length / 8);
  }
}

function readIp(text: Value): IpValue | Failure | undefined {
  if (typeof text !== 'string') return undefined;
  const quoted = JSON.stringify(text);
  const parsed = parseAddress(text);
  if ('problem' in parsed) {
    return fail(
      `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): ${parsed.problem}`,
    );
  }
  const address = parsed.value;
  if (address.zone !== '') return fail(`IP address ${quoted} with zone value is not allowed`);
  if (isMapped(address)) return fail(`IPv4-mapped IPv6 address ${quoted} is not allowed`);
  return new IpValue(address);
}

function readCidr(text: Value): CidrValue | Failure | undefined {
  if (typeof text !== 'string') return undefined;
  const parsed = parsePrefix(text);
  const wrong = 'network address parse error during conversion from string:';
  if ('problem' in parsed)
    return fail(`${wrong} ${wrong} netip.ParsePrefix(${JSON.stringify(text)}): ${parsed.problem}`);
  const prefix = parsed.value;
  if (isMapped(prefix.address))
    return fail(`${wrong} IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return new CidrValue(prefix);
}

const onIp = (body: (a: IpAddress) => Value) => (v: Value) =>
  v instanceof IpValue ? body(v.opaqueAddress) : undefined;
const onCidr = (body: (p: IpPrefix) => Value) => (v: Value) =>
  v instanceof CidrValue ? body(v.opaquePrefix) : undefined;
const reads = (read: (text: Value) => Value | undefined) => (text: Value) =>
  typeof text === 'string' ? read(text) instanceof Opaque : undefined;

function isCanonical(text: Value): Value | undefined {
  const ip = readIp(text);
  return ip instanceof IpValue ? formatAddress(ip.opaqueAddress) === text : ip;
}

function containsIp(network: Value, other: Value): Value | undefined {
  const ip = other instanceof IpValue ? other : readIp(other);
  if (!(network instanceof CidrValue) || ip === undefined) return undefined;
  return ip instanceof IpValue ? contains(network.opaquePrefix, ip.opaqueAddress) : ip;
}

function containsCidr(network: Value, other: Value): Value | undefined {
  const inner = other instanceof CidrValue ? other : readCidr(other);
  if (!(network instanceof CidrValue) || inner === undefined) return undefined;
  if (!(inner instanceof CidrValue)) return inner;
  const { address, length } = inner.opaquePrefix;
  return network.opaquePrefix.length <= length && contains(network.opaquePrefix, address);
}

const masked = ({ address, length }: IpPrefix): Value =>
  new CidrValue({ address: { ...address, bits: maskBits(address, length) }, length });

const readCost: CallCost = (a) => traversal(sizeOf(a));
/** The cost of comparing bytes up to the prefix, and of parsing the other side if it is text. */
const containsCost =
  (extra: (size: number) => number): CallCost =>
  (a, b) =>
    traversal(2 * sizeOf(a)) + extra(sizeOf(a)) + (typeof b === 'string' ? traversal(sizeOf(b)) : 0);

const test = (name: string, id: string, body: (a: IpAddress) => boolean) =>
  fn(name, member(id, [IP], BOOL, onIp(body)));

export const KUBERNETES_NET: Library = {
  name: 'kubernetes ip and cidr',
  constants: [typeConstant('net.IP', IP), typeConstant('net.CIDR', CIDR)],
  functions: working(
    350,
    fnAt(
      readCost,
      'ip',
      overload('string_to_ip', [STRING], IP, readIp),
      member(
        'cidr_ip',
        [CIDR],
        IP,
        onCidr((p) => new IpValue(p.address)),
        { cost: () => 1 },
      ),
    ),
    fn(
      'family',
      member(
        'ip_family',
        [IP],
        INT,
        onIp((a) => a.family),
      ),
    ),
    fnAt(
      (a) => Math.ceil(sizeOf(a) * 0.2),
      'ip.isCanonical',
      overload('ip_is_canonical', [STRING], BOOL, isCanonical),
    ),
    test('isUnspecified', 'ip_is_unspecified', isUnspecified),
    test('isLoopback', 'ip_is_loopback', isLoopback),
    test('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    test('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    test('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    fnAt(readCost, 'isIP', overload('is_ip', [STRING], BOOL, reads(readIp))),
    fnAt(readCost, 'cidr', overload('string_to_cidr', [STRING], CIDR, readCidr)),
    fnAt(readCost, 'isCIDR', overload('is_cidr', [STRING], BOOL, reads(readCidr))),
    fnAt(
      containsCost(() => 0),
      'containsIP',
      member('cidr_contains_ip_string', [CIDR, STRING], BOOL, containsIp),
      member('cidr_contains_ip_ip', [CIDR, IP], BOOL, containsIp),
    ),
    fnAt(
      containsCost((size) => traversal(size) + 1),
      'containsCIDR',
      member('cidr_contains_cidr_string', [CIDR, STRING], BOOL, containsCidr),
      member('cidr_contains_cidr', [CIDR, CIDR], BOOL, containsCidr),
    ),
    fn(
      'prefixLength',
      member(
        'cidr_prefix_length',
        [CIDR],
        INT,
        onCidr((p) => p.length),
      ),
    ),
    fn('masked', member('cidr_masked', [CIDR], CIDR, onCidr(masked))),
    fn(
      'string',
      overload('ip_to_string', [IP], STRING, onIp(formatAddress)),
      overload('cidr_to_string', [CIDR], STRING, onCidr(formatPrefix)),
    ),
  ),
};
