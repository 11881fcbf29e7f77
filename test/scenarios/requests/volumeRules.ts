// The worlds and helpers of the numbered rules of volume requests: rules.test.ts, ttlRules.test.ts, accessRules.test.ts.

import { seconds } from '@lapse/base/instant';
import type { Simulation } from '@lapse/simulation/simulate';
import type { RequestObject } from 'lapse/api/storage/request';
import type { Scene } from '../scene.ts';
import {
  capture,
  claim,
  content,
  snapshotClass,
  storageClass,
  volume,
  volumeWorld,
  type WorldOptions,
} from './kit.ts';
import { askedText } from './ruleScenarios.ts';

export const CAPTURE: WorldOptions = {
  families: ['volume-capture'],
  simulatedControllers: ['csi-snapshotter'],
};
export const WHOLE: WorldOptions = { families: ['volume-capture', 'object-keeper', 'request-ttl'] };
export const RESTORE: WorldOptions = {
  families: ['volume-restore'],
  simulatedControllers: ['deckhouse-provisioner'],
  objects: [content()],
};
export const CLAIMED = [
  snapshotClass(),
  storageClass(),
  volume('pv-data', { claimRef: { namespace: 'default', name: 'data' } }),
  claim(),
];
export const REF = 'vcr/nightly';

export const created = (simulation: Simulation, resource: string) =>
  simulation
    .writes()
    .filter((write) => write.verb === 'create' && write.resource === resource && write.status === 201);
export const verbs = (simulation: Simulation, from = 0) => simulation.requests.slice(from).map(askedText);

/** Applies a snapshot request, and returns it one second later. */
export async function captured(
  { given, when, then }: Scene,
  world: WorldOptions = CAPTURE,
): Promise<RequestObject> {
  await volumeWorld(given, world);
  await when.user.apply(capture());
  await when.timePasses(seconds(1));
  return then.object<RequestObject>(REF);
}
