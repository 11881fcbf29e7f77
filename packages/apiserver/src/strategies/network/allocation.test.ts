// Allocation of addresses and ports for Services: unique, in range, and complete.

import { seededRandom } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import { expect, test } from 'vitest';
import { AllocationError, claimAddress, claimPort, nextAddress, nextPort, takenBy } from './allocation.ts';

const service = (uid: string, ips: string[], ...ports: number[]): KubeObject =>
  ({
    metadata: { uid },
    spec: { clusterIPs: ips, ports: ports.map((nodePort) => ({ nodePort })) },
  }) as unknown as KubeObject;

test('allocates every address once, until the range is full', () => {
  const random = seededRandom(1);
  const addresses = new Set<string>();
  const taken = { addresses, ports: new Set<number>() };
  for (let i = 2; i < 255; i++) addresses.add(nextAddress(taken, random));
  expect(addresses.size).toBe(253);
  for (const odd of ['10.0.0.0', '10.0.0.1', '10.0.0.255']) expect(addresses.has(odd)).toBe(false);
  expect(() => nextAddress(taken, random)).toThrow(new AllocationError('range is full'));
});

test('allocates every port once, until the range is full', () => {
  const random = seededRandom(2);
  const ports = new Set<number>();
  for (let i = 30_000; i <= 32_767; i++) ports.add(nextPort(ports, random));
  expect([ports.size, Math.min(...ports), Math.max(...ports)]).toEqual([2768, 30_000, 32_767]);
  expect(() => nextPort(ports, random)).toThrow(new AllocationError('range is full'));
});

test('allocates from the static range only when the rest is used up', () => {
  const random = seededRandom(3);
  const addresses = new Set<string>();
  const ports = new Set<number>();
  // As in kube-apiserver, the first 16 addresses and the first 86 ports are allocated last.
  for (let i = 17; i < 255; i++) addresses.add(nextAddress({ addresses, ports }, random));
  for (let i = 30_086; i <= 32_767; i++) ports.add(nextPort(ports, random));
  expect([addresses.has('10.0.0.16'), addresses.has('10.0.0.17'), Math.min(...ports)]).toEqual([
    false,
    true,
    30_086,
  ]);
  expect(Number(nextAddress({ addresses, ports }, random).split('.')[3])).toBeLessThanOrEqual(16);
  expect(nextPort(ports, random)).toBeLessThan(30_086);
});

test('addresses of other Services are in use, those of the Service itself are free', () => {
  const all = [service('a', ['10.0.0.5'], 30_001), service('b', ['10.0.0.6'], 30_002)];
  const taken = takenBy(all, 'b');
  expect(() => claimAddress('10.0.0.5', taken)).toThrow('provided IP is already allocated');
  expect(() => claimAddress('10.0.0.6', taken)).not.toThrow();
  expect(() => claimPort(30_001, taken.ports)).toThrow('provided port is already allocated');
  expect(() => claimPort(30_002, taken.ports)).not.toThrow();
});

test.each(['10.0.1.1', '9.255.255.255', '10.0.0.0', '10.0.0.255', '::1', 'nonsense'])(
  '%s is outside the range',
  (ip) => {
    const taken = takenBy([], undefined);
    expect(() => claimAddress(ip, taken)).toThrow('the provided network does not match the current range');
  },
);

test.each([29_999, 32_768, 0, -1])('%d is outside the node port range', (port) => {
  expect(() => claimPort(port, new Set())).toThrow(
    'provided port is not in the valid range. The range of valid ports is 30000-32767',
  );
});
