// A controller that waits, on a clock that jumps: a day takes milliseconds, and to the millisecond.

import { type ConfigMap, formatTime, hours, millis } from 'lapse/runtime';
import { simulate } from 'lapse/sim';
import { expect, test } from 'vitest';
import { staleLocks } from './stale-locks.ts';

test('a lock is stale a day after it was renewed, and not before', async () => {
  const cluster = await simulate({ compose: () => ({ controllers: [staleLocks] }) });
  const lock = async () => (await cluster.get<ConfigMap>('configmap/l'))?.metadata.labels?.['lock'];

  await cluster.apply('{apiVersion: v1, kind: ConfigMap, metadata: {name: l, labels: {lock: held}}}');
  await cluster.timePasses(hours(23));
  await cluster.patch('configmap/l', {
    metadata: { annotations: { renewed: formatTime(cluster.clock.now()) } },
  });
  await cluster.timePasses(millis(hours(24) - 1));
  expect(await lock()).toBe('held');
  await cluster.restart();
  await cluster.timePasses(millis(1));
  expect(await lock()).toBe('stale');

  expect((await cluster.doubleRun()).writes).toEqual([]);
  await cluster.close();
});
