import { minutes } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { nextTurn } from '@lapse/base/turn';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { expect, test } from 'vitest';
import type { KeyPair } from '../host/certificate.ts';
import { apiServiceName, openRegistration } from './registration.ts';

const NAME = apiServiceName({ group: 'example.com', version: 'v1' });
const bundle = (text: string) => Buffer.from(text).toString('base64');

function setup(apiService: KubeObject | undefined) {
  const clock = new VirtualClock();
  let stored = apiService;
  let failing = false;
  const updates: unknown[] = [];
  const client = {
    get: async () => structuredClone(stored),
    update: async (_kind: unknown, object: KubeObject) => {
      if (failing)
        return { kind: 'conflict', by: 'changed', error: new ApiError(409, 'Conflict', 'changed') };
      updates.push(object.spec);
      stored = object;
      return { kind: 'updated', object };
    },
  } as unknown as Client;
  let pair: KeyPair = { cert: 'leaf-1', key: 'k' };
  let authority = 'ca-1';
  let notify: ((pair: KeyPair) => void) | undefined;
  const certificate = {
    current: () => pair,
    caBundle: () => authority,
    onChange: (listener: (pair: KeyPair) => void) => {
      notify = listener;
      return () => {
        notify = undefined;
      };
    },
  };
  return {
    clock,
    updates,
    open: () => openRegistration({ client, clock, log: silentLog, name: NAME, certificate }),
    fail: (value: boolean) => {
      failing = value;
    },
    register: (object: KubeObject) => {
      stored = object;
    },
    renew: () => {
      pair = { cert: 'leaf-2', key: 'k' };
      authority = 'ca-2 ca-1';
      notify?.(pair);
    },
  };
}

const service = (spec: object = {}): KubeObject => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: NAME },
  spec: { group: 'example.com', service: { name: 'lapse', namespace: 'lapse-system' }, ...spec },
});

test('sets the caBundle once and removes insecureSkipTLSVerify', async () => {
  const world = setup(service({ insecureSkipTLSVerify: true }));
  const open = await world.open();
  const set = {
    group: 'example.com',
    service: { name: 'lapse', namespace: 'lapse-system' },
    caBundle: bundle('ca-1'),
  };
  expect(world.updates).toEqual([set]);
  await open.refresh();
  expect(world.updates).toHaveLength(1);
  open.close();
});

test('ignores an APIService that does not exist or has no Service', async () => {
  for (const object of [undefined, { ...service(), spec: { group: 'example.com' } }]) {
    const world = setup(object);
    (await world.open()).close();
    expect(world.updates).toEqual([]);
  }
});

test('serves a new certificate only after its CA is in the caBundle', async () => {
  const world = setup(service());
  const open = await world.open();
  const seen: string[] = [];
  open.onChange(({ cert }) => void seen.push(cert));
  world.fail(true);
  world.renew();
  await world.clock.advance(minutes(0.5), nextTurn);
  expect([open.current().cert, seen]).toEqual(['leaf-1', []]);
  world.fail(false);
  await world.clock.advance(minutes(1), nextTurn);
  expect([open.current().cert, seen]).toEqual(['leaf-2', ['leaf-2']]);
  expect(world.updates.at(-1)).toMatchObject({ caBundle: bundle('ca-2 ca-1') });
  open.close();
});

test('sets the caBundle within a minute when the APIService is created later', async () => {
  const world = setup(undefined);
  const open = await world.open();
  world.register(service());
  await world.clock.advance(minutes(1), nextTurn);
  expect(world.updates).toHaveLength(1);
  open.close();
});
