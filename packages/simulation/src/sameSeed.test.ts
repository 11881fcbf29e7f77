// The same seed gives the same history, byte for byte: uids, versions, jitter and order.

import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { expect, test } from 'vitest';
import { endingAt, expiring, note } from './expiring.testkit.ts';
import { simulate } from './simulate.ts';

async function story(seed: number): Promise<string> {
  const simulation = await simulate({
    seed,
    compose: () => ({ controllers: [expiring({ concurrency: 3 })] }),
  });
  const random = seededRandom(seed);
  const draw = (most: number) => Math.floor(random.next() * most);
  try {
    for (let i = 0; i < 30; i++) await simulation.apply(note(`n${i}`, minutes(1 + draw(100))));
    for (let step = 0; step < 40; step++) {
      const name = `n${draw(30)}`;
      const what = draw(8);
      if (what === 0) simulation.faults.answer('DELETE', [409, 429, 500][draw(3)]!, { times: 1 + draw(3) });
      else if (what === 1) simulation.faults.answer('*', { hang: draw(2) ? 'before' : 'after' });
      else if (what === 2) simulation.faults.breakWatches((['end', 'cut', 'gone'] as const)[draw(3)]!);
      else if (what === 3) simulation.crash();
      else if (what === 4) await simulation.restart();
      else if (what === 5) await simulation.skewProcess(seconds(draw(60) - 30));
      else if (what === 6) simulation.faults.slowServer(millis(draw(3000)));
      else if ((await simulation.get(`cm/${name}`)) !== undefined)
        await simulation.patch(`cm/${name}`, endingAt(minutes(draw(200))));
      await simulation.timePasses(minutes(draw(10)));
    }
    simulation.faults.heal();
    await simulation.restart();
    await simulation.timePasses(hours(10));
    const { requests, reconciles, changes } = simulation;
    return JSON.stringify([requests, reconciles, changes, simulation.timeline()], (_key, value: unknown) =>
      value instanceof Error ? value.message : value,
    );
  } finally {
    await simulation.close();
  }
}

test.each([1, 2, 3])('seed %d gives the same history twice', async (seed) => {
  const first = await story(seed);
  expect(first.length).toBeGreaterThan(10_000);
  expect((await story(seed)) === first).toBe(true);
});

test('different seeds give different histories', async () => {
  expect((await story(4)) === (await story(5))).toBe(false);
});
