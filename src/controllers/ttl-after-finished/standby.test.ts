import { expect, test } from 'vitest';
import { inTtlWorld } from './ttl.testkit.ts';

test(
  'a replica that has never led keeps nothing of what came and went',
  inTtlWorld({ elector: { start: () => {}, stop: async () => {} } }, async (k) => {
    await k.finishedJob('listed', 3600);
    k.start();
    await k.pass(1);
    await k.remove('listed');
    for (let i = 0; i < 300; i++) {
      await k.createJob(`j${i}`, 10);
      await k.remove(`j${i}`);
    }
    await k.pass(3600);
    expect(k.world.manager.interner.size).toBe(0);
    expect(k.metric('lapse_ttl_waiting{kind="Job"}')).toBe(0);
  }),
);
