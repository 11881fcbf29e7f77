// Allocates addresses and ports for Services from 10.0.0.0/24 and 30000–32767, the defaults of kube-apiserver. The
// stored Services are the allocation state, so there is no state to maintain or repair.

import { formatAddress, parseSloppyAddress } from '@lapse/base/ipAddress';
import type { Random } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import { specOf } from '../../resources/resource.ts';
import { number, objects, texts } from '../values.ts';

/** 10.0.0.0 */
const FIRST = 0x0a000000n;
const SIZE = 256;
/** The address of the server itself inside a cluster. */
const RESERVED = 1;

/**
 * The first addresses and ports are allocated last: as kube-apiserver recommends, clients choose static ones from
 * them.
 */
const STATIC_ADDRESSES = 16;
const STATIC_PORTS = 86;

export class AllocationError extends Error {}

export interface Taken {
  readonly addresses: ReadonlySet<string>;
  readonly ports: ReadonlySet<number>;
}

/** The addresses and ports of all Services except the one with this uid. */
export function takenBy(services: Iterable<KubeObject>, except: string | undefined): Taken {
  const addresses = new Set<string>();
  const ports = new Set<number>();
  for (const service of services) {
    if (service.metadata.uid === except) continue;
    const spec = specOf(service);
    for (const ip of texts(spec, 'clusterIPs')) addresses.add(ip);
    for (const port of objects(spec, 'ports')) ports.add(number(port, 'nodePort') ?? 0);
    ports.add(number(spec, 'healthCheckNodePort') ?? 0);
  }
  return { addresses, ports };
}

const addressAt = (offset: number): string =>
  formatAddress({ family: 4, bits: FIRST + BigInt(offset), zone: '' });

/** The address of the Service `default/kubernetes`. */
export const SERVER_ADDRESS = addressAt(RESERVED);

export function nextAddress({ addresses }: Taken, random: Random): string {
  const isFree = (offset: number) => !addresses.has(addressAt(offset));
  const offset =
    choose(STATIC_ADDRESSES + 1, SIZE - 2, isFree, random) ??
    choose(RESERVED + 1, STATIC_ADDRESSES, isFree, random);
  if (offset === undefined) throw new AllocationError('range is full');
  return addressAt(offset);
}

/** The first free number of the range, starting at a random one. */
function choose(
  low: number,
  high: number,
  isFree: (candidate: number) => boolean,
  random: Random,
): number | undefined {
  const size = high - low + 1;
  const start = Math.floor(random.next() * size);
  for (let i = 0; i < size; i++) {
    const candidate = low + ((start + i) % size);
    if (isFree(candidate)) return candidate;
  }
  return undefined;
}

/** Throws when an address is outside the range or in use. */
export function claimAddress(ip: string, { addresses }: Taken): void {
  const address = parseSloppyAddress(ip);
  const offset = address?.family === 4 ? Number(address.bits - FIRST) : 0;
  if (offset < 1 || offset >= SIZE - 1)
    throw new AllocationError('the provided network does not match the current range');
  if (addresses.has(ip)) throw new AllocationError('provided IP is already allocated');
}

const PORTS = { low: 30_000, high: 32_767 };

export function nextPort(taken: ReadonlySet<number>, random: Random): number {
  const isFree = (port: number) => !taken.has(port);
  const port =
    choose(PORTS.low + STATIC_PORTS, PORTS.high, isFree, random) ??
    choose(PORTS.low, PORTS.low + STATIC_PORTS - 1, isFree, random);
  if (port === undefined) throw new AllocationError('range is full');
  return port;
}

export function claimPort(port: number, taken: ReadonlySet<number>): void {
  if (port < PORTS.low || port > PORTS.high)
    throw new AllocationError(
      `provided port is not in the valid range. The range of valid ports is ${PORTS.low}-${PORTS.high}`,
    );
  if (taken.has(port)) throw new AllocationError('provided port is already allocated');
}
