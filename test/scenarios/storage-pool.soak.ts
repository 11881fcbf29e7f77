// Very many pools that are due at one instant: one write each, at that instant.

import { formatTime, millis, minutes } from '@lapse/base/instant';
import { ReplicatedStoragePool as Pool, type ReplicatedStoragePool } from 'lapse/api/replicatedStoragePool';
import { expect } from 'vitest';
import { at } from './kit.ts';
import { scenario } from './scenario.ts';

const POOLS = 500;
const STORAGE = 'storage.deckhouse.io/v1alpha1';

scenario(`${POOLS} pools whose node is due at one instant`, async ({ given, when, then, simulation }) => {
  given.controllers('storage-pool');
  const conditions = [{ type: 'Ready', status: 'Unknown', lastTransitionTime: formatTime(at(millis(0))) }];
  await given.object([
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, status: { conditions } },
    {
      apiVersion: STORAGE,
      kind: 'LVMVolumeGroup',
      metadata: { name: 'vg' },
      spec: { local: { nodeName: 'n1' } },
    },
  ]);
  const { user, settle, clock } = await simulation();
  for (let i = 0; i < POOLS; i++)
    await user.create(Pool, {
      apiVersion: STORAGE,
      kind: 'ReplicatedStoragePool',
      metadata: { name: `pool-${i}` },
      spec: {
        type: 'LVM',
        lvmVolumeGroups: [{ name: 'vg' }],
        eligibleNodesPolicy: { notReadyGracePeriod: '10m' },
      } as ReplicatedStoragePool['spec'],
    });
  await settle();
  await when.timePasses(millis(at(minutes(10)) - clock.now() - 1));
  const listed = async () => {
    const { items } = await user.list(Pool);
    return items.filter(({ status }) => (status?.eligibleNodes ?? []).length > 0).length;
  };
  expect(await listed()).toBe(POOLS);
  const before = then.writes().length;
  await when.timePasses(millis(1));
  expect([await listed(), then.writes().length - before]).toEqual([0, POOLS]);
});
