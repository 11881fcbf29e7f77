// Every verb that the request controllers use is forbidden for an hour during a detach. The controller retries with
// backoff, or the request fails. No step is left half done.

import { hours } from '@lapse/base/instant';
import { expect } from 'vitest';
import { requestScenario } from './invariants.ts';
import { claim, detach, volume, volumeWorld } from './kit.ts';

const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' };
const OBJECTS = [volume('pv-data', { claimRef }), claim()];

const FORBIDDEN = [
  'patch volumecapturerequests/status',
  'patch volumecapturerequests',
  'get objectkeepers',
  'delete persistentvolumeclaims',
  'patch persistentvolumes',
  'patch objectkeepers/status',
  'delete objectkeepers',
  'delete volumecapturerequests',
];
requestScenario.each(
  Object.fromEntries(FORBIDDEN.map((verb) => [`403 on ${verb}: never hot, never half-done`, verb])),
  async (scene, verb) => {
    const { given, when, simulation } = scene;
    given.noDoubleRun('what is forbidden is tried again by the double run, and should be');
    await volumeWorld(given, {
      families: ['volume-capture', 'object-keeper', 'request-ttl'],
      simulatedControllers: ['owner-gc', 'csi-snapshotter'],
      objects: OBJECTS,
      configuration: { detach: { retention: { mode: 'FollowObject' } } },
    });
    (await simulation()).faults.answer(verb, 403, { times: 1e9 });
    await when.user.apply(detach());
    await when.timePasses(hours(1));
    const refused = (await simulation()).requests.filter(({ status }) => status === 403);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length, 'one per five minutes in the end').toBeLessThan(40);
  },
);
