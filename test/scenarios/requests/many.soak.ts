// Five thousand requests that complete in the same second: all of them finish, nothing is written twice, and the server
// never sees more requests at once than the limit of the client.

import { minutes, seconds } from '@lapse/base/instant';
import { VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import { ObjectKeeper } from 'lapse/api/objectKeeper';
import type { RequestObject } from 'lapse/api/storage/request';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect, test } from 'vitest';
import { composeFamilies, findFamily } from '../compose.ts';
import { checkHistory } from './invariants.ts';
import { capture, claim, snapshotClass, storageClass, volume } from './kit.ts';

const COUNT = Number(process.env.LAPSE_MANY ?? 5000);
const families = ['volume-capture', 'object-keeper', 'request-ttl'].map(findFamily);

/** With thousands of keys of simulated controllers at one instant, one check for idleness is not enough. */
async function rest(simulation: Simulation): Promise<void> {
  for (let still = 0, seen = -1; still < 5; ) {
    await simulation.settle();
    const { length } = simulation.changes;
    still = length === seen ? still + 1 : 0;
    seen = length;
  }
}

test(`${COUNT} requests that complete together`, async () => {
  const simulation = await simulate({
    compose: composeFamilies({ families, controllers: [], configuration: {}, gates: {} }),
    kinds: [...new Set([...families.flatMap(({ kinds }) => kinds), ...STOCK_SNAPSHOT_KINDS])],
    simulatedControllers: simulatedControllersNamed(['csi-snapshotter']),
  });
  const slow = snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': '31s' } });
  await simulation.apply([slow, storageClass(), volume(), claim()]);
  simulation.crash();
  await simulation.userClient.create(Array.from({ length: COUNT }, (_, i) => capture(`r${i}`)));
  await simulation.restart();
  await simulation.timePasses(seconds(31));
  await rest(simulation);

  const requests = (await simulation.user.list(VolumeCaptureRequest)).items as RequestObject[];
  expect(requests).toHaveLength(COUNT);
  expect(requests.filter(({ status }) => status?.conditions?.[0]?.reason !== 'Completed')).toEqual([]);
  expect(new Set(requests.map(({ status }) => status?.completionTimestamp)).size).toBe(1);
  expect(
    requests.filter(({ metadata }) => metadata.annotations?.['storage.deckhouse.io/ttl'] !== '10m'),
  ).toEqual([]);

  await simulation.timePasses(minutes(10));
  await rest(simulation);
  const writes = new Map<string, number>();
  for (const { verb, resource, subresource, name, status } of simulation.writes()) {
    const key = `${verb} ${resource}${subresource ? `/${subresource}` : ''} ${status === 201 || status === 200 ? 'done' : status}`;
    writes.set(key, (writes.get(key) ?? 0) + 1);
    expect(name === '').toBe(false);
  }
  // Two patches for each request: the name of its content before the create, and the TTL at completion.
  expect(Object.fromEntries(writes)).toEqual({
    'create objectkeepers done': COUNT,
    // The first creates, without a VolumeSnapshot, are refused: one per worker, then the process knows.
    'create volumesnapshotcontents 422': expect.any(Number),
    'create volumesnapshotcontents done': COUNT,
    'patch objectkeepers/status done': COUNT,
    'patch volumecapturerequests/status done': COUNT,
    'patch volumecapturerequests done': 2 * COUNT,
    'delete volumecapturerequests done': COUNT,
    'delete objectkeepers done': COUNT,
  });
  expect((await simulation.user.list(VolumeCaptureRequest)).items).toEqual([]);
  expect((await simulation.user.list(ObjectKeeper)).items).toEqual([]);
  expect((await simulation.user.list(VolumeSnapshotContent)).items).toHaveLength(COUNT);
  const reads = simulation.requests.filter(({ verb }) => verb === 'get');
  expect(reads.length / COUNT, 'reads per request').toBeLessThan(7);
  expect(reads.filter(({ resource }) => resource === 'customresourcedefinitions').length).toBeLessThan(COUNT);
  checkHistory(simulation);
  await simulation.close();
});
