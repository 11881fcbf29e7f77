// A sample of random sequences. model.soak.ts runs many more.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { Model } from './model.testkit.ts';
import { lvg, pool } from './pool.testkit.ts';
import { runStory, story } from './story.testkit.ts';

test('after a random sequence the status equals one computed from scratch, and every write was a change', async () => {
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const model = await Model.create();
      try {
        await runStory(model, told);
      } finally {
        await model.close();
      }
    }),
    { numRuns: 12, seed: 20_260_101, endOnFailure: true },
  );
});

test('⚡ a decision based on a stale copy of the pool is repeated when the newer one arrives', async () => {
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
    // The stale copy still says Ready, which is also the desired state, so no write seems necessary.
    await user.create(LVMVolumeGroup, lvg('vg', 'n1'));
    await model.pass(60_000);
    expect(model.writes).toBe(2);
    await model.check();
    expect(model.writes).toBe(3);
  } finally {
    await model.close();
  }
});
