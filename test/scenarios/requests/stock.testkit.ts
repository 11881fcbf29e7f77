// A cluster with the stock snapshot stack: the CRDs of external-snapshotter, snapshot-controller, csi-snapshotter and a CSI
// driver, all simulated as recorded from the real ones.

import { seconds } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { type CsiFault, SimulatedDriver } from '@lapse/simulation/csi/driver';
import { DECKHOUSE_SNAPSHOT_KINDS, STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { csiStack } from '@lapse/simulation/csi/stack';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import type { Given, Scene } from '../scene.ts';
import { capture, claim, DRIVER, FAMILIES, readyOf, snapshotClass, storageClass } from './kit.ts';

export const REF = 'vcr/nightly';

export interface StockOptions {
  readonly faults?: readonly CsiFault[];
  readonly configuration?: JsonObject;
  /** Default: with the deletion policy Retain, which does not decide about contents. */
  readonly snapshotClass?: KubeObject;
}

/** A cluster with a claim that the driver provisions. */
export function stockCluster(given: Given, options: StockOptions = {}): Promise<SimulatedDriver> {
  given.kinds(...STOCK_SNAPSHOT_KINDS);
  return clusterWithDriver(given, options);
}

/** The patched snapshot stack of Deckhouse: contents need no VolumeSnapshot. */
export function deckhouseCluster(given: Given): Promise<SimulatedDriver> {
  given.kinds(...DECKHOUSE_SNAPSHOT_KINDS);
  return clusterWithDriver(given, {}, true);
}

async function clusterWithDriver(
  given: Given,
  { faults = [], configuration, snapshotClass: chosen }: StockOptions,
  unbound = false,
): Promise<SimulatedDriver> {
  const driver = new SimulatedDriver(DRIVER);
  driver.inject(...faults);
  given.controllers(...FAMILIES, 'volume-restore');
  given.configuration({ actAs: 'controller', ...configuration });
  given.simulatedControllers('owner-gc', ...csiStack({ driver, unbound }));
  const pending = claim('data', { volumeName: undefined }, {}, 'Pending');
  const retained = snapshotClass('snap', { deletionPolicy: 'Retain' });
  await given.object([chosen ?? retained, storageClass(), pending]);
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
