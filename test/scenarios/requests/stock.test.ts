// Captures on the stock snapshot stack.

import { minutes, seconds } from '@lapse/base/instant';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { capture, readyOf } from './kit.ts';
import { REF, stockCluster } from './stock.testkit.ts';

const DOWN = { code: 'Unavailable', message: 'controller is restarting' } as const;

scenario(
  'a snapshot is taken, and deleted from the storage system with the request',
  async ({ given, when, then }) => {
    const driver = await stockCluster(given);
    await when.timePasses(seconds(1));
    await when.user.apply(capture());
    await when.timePasses(seconds(5));
    expect(await readyOf(then, REF)).toBe('True Completed');
    expect(driver.snapshots).toHaveLength(1);
    await when.timePasses(minutes(11));
    await then.isGone(REF);
    expect(driver.snapshots).toEqual([]);
  },
);

scenario('an error is retried, and the request completes', async ({ given, when, then }) => {
  const driver = await stockCluster(given, { method: 'CreateSnapshot', times: 3, error: DOWN });
  await when.timePasses(seconds(1));
  await when.user.apply(capture());
  await when.timePasses(seconds(5));
  expect(await readyOf(then, REF)).toBeUndefined();
  await when.timePasses(minutes(1));
  expect(await readyOf(then, REF)).toBe('True Completed');
  expect(driver.snapshots).toHaveLength(1);
});

scenario(
  'an error that lasts ends the request at its deadline, and nothing is left in the storage system',
  async ({ given, when, then }) => {
    const driver = await stockCluster(given, {
      method: 'CreateSnapshot',
      times: 30,
      error: { code: 'InvalidArgument', message: 'thick volumes have no snapshots' },
    });
    await when.timePasses(seconds(1));
    await when.user.apply(capture());
    await when.timePasses(minutes(4));
    expect(await readyOf(then, REF)).toBeUndefined();
    await when.timePasses(minutes(2));
    const request = await then.object<RequestObject>(REF);
    expect(request.status?.conditions).toMatchObject([
      { reason: 'SnapshotCreationFailed', message: expect.stringContaining('thick volumes') },
    ]);
    await then.isGone(`vsc/snapshot-${request.metadata.uid}`);
    expect(driver.snapshots).toEqual([]);
  },
);

scenario('a retained snapshot stays, and the message names it', async ({ given, when, then }) => {
  const driver = await stockCluster(given);
  await when.timePasses(seconds(1));
  await when.user.apply(capture('nightly', { retain: true }));
  await when.timePasses(seconds(5));
  const { status } = await then.object<RequestObject>(REF);
  const [handle] = driver.snapshots;
  expect(status?.conditions?.[0]?.message).toContain(`the snapshot ${handle} stays in the storage system`);
  await when.timePasses(minutes(11));
  await then.isGone(REF);
  expect(driver.snapshots).toEqual([handle]);
});

scenario(
  'a request that is deleted while the driver takes the snapshot leaves nothing',
  async ({ given, when, then }) => {
    const driver = await stockCluster(given, { method: 'CreateSnapshot', times: 1, delay: seconds(20) });
    await when.timePasses(seconds(1));
    await when.user.apply(capture());
    await when.timePasses(seconds(5));
    await when.user.delete(REF);
    await when.timePasses(minutes(1));
    await then.isGone(REF);
    expect(driver.snapshots).toEqual([]);
  },
);
