// A cluster with the stock snapshot stack: the CRDs of external-snapshotter, snapshot-controller, csi-snapshotter and a CSI
// driver, all simulated as recorded from the real ones.

import { seconds } from '@lapse/base/instant';
import { type CsiFault, SimulatedDriver } from '@lapse/simulation/csi/driver';
import { DECKHOUSE_SNAPSHOT_KINDS, STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { csiStack } from '@lapse/simulation/csi/stack';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import type { Given, Scene } from '../scene.ts';
import { capture, claim, DRIVER, FAMILIES, readyOf, snapshotClass, storageClass } from './kit.ts';

export const REF = 'vcr/nightly';

/** A cluster with a claim that the driver provisions. */
export async function stockCluster(given: Given, ...faults: readonly CsiFault[]): Promise<SimulatedDriver> {
  given.kinds(...STOCK_SNAPSHOT_KINDS);
  const driver = await clusterWithDriver(given);
  driver.inject(...faults);
  return driver;
}

/** The patched snapshot stack of Deckhouse: contents need no VolumeSnapshot. */
export function deckhouseCluster(given: Given): Promise<SimulatedDriver> {
  given.kinds(...DECKHOUSE_SNAPSHOT_KINDS);
  return clusterWithDriver(given, true);
}

async function clusterWithDriver(given: Given, unbound = false): Promise<SimulatedDriver> {
  const driver = new SimulatedDriver(DRIVER);
  given.controllers(...FAMILIES, 'volume-restore');
  given.configuration({ actAs: 'controller' });
  given.simulatedControllers('owner-gc', ...csiStack({ driver, unbound }));
  const pending = claim('data', { volumeName: undefined }, {}, 'Pending');
  await given.object([snapshotClass('snap', { deletionPolicy: 'Retain' }), storageClass(), pending]);
  return driver;
}

/** Captures the claim and returns the request. */
export async function captured({ when, then }: Scene, request = capture()): Promise<RequestObject> {
  await when.timePasses(seconds(1));
  await when.user.apply(request);
  await when.timePasses(seconds(5));
  expect(await readyOf(then, REF)).toBe('True Completed');
  return then.object<RequestObject>(REF);
}

export const sourceOf = ({ metadata }: RequestObject) => ({
  kind: 'VolumeSnapshotContent',
  name: `snapshot-${metadata.uid}`,
});
export const helperOf = ({ metadata }: RequestObject) => `restore-${metadata.uid}`;
