// A sample of random stories; many more are told in model.soak.ts.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { Model } from './model.testkit.ts';
import { lvg, pool } from './pool.testkit.ts';
import { story, tellStory } from './story.testkit.ts';

test('after any story the status is what it would be from scratch, and every write was a change', async () => {
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const model = await Model.create();
      try {
        await tellStory(model, told);
      } finally {
        await model.close();
      }
    }),
    { numRuns: 12, seed: 20_260_101, endOnFailure: true },
  );
});

test('⚡ a decision made on a copy of the pool that was behind is made again when the newer one arrives', async () => {
  const model = await Model.create();
  const { user } = model;
  try {
    await user.create(LVMVolumeGroup, lvg('vg', 'n1'));
    await user.create(ReplicatedStoragePool, pool('p', ['vg']));
    model.start();
    await model.settle();
    model.hold('replicatedstoragepools');
    await user.delete(LVMVolumeGroup, { name: 'vg' });
    await model.pass(60_000);
    expect(model.writes).toBe(2);
    // The copy still says Ready, which is what it should become: nothing to change, as far as anybody can see.
    await user.create(LVMVolumeGroup, lvg('vg', 'n1'));
    await model.pass(60_000);
    expect(model.writes).toBe(2);
    await model.check();
    expect(model.writes).toBe(3);
  } finally {
    await model.close();
  }
});
