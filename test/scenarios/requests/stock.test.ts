// Captures on the stock snapshot stack.

import { minutes, seconds } from '@lapse/base/instant';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { capture, readyOf } from './kit.ts';
import { captured, REF, stockCluster } from './stock.testkit.ts';

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
  const driver = await stockCluster(given, {
    faults: [{ method: 'CreateSnapshot', times: 3, error: DOWN }],
  });
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
      faults: [
        {
          method: 'CreateSnapshot',
          times: 30,
          error: { code: 'InvalidArgument', message: 'thick volumes have no snapshots' },
        },
      ],
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
    const driver = await stockCluster(given, {
      faults: [{ method: 'CreateSnapshot', times: 1, delay: seconds(20) }],
    });
    await when.timePasses(seconds(1));
    await when.user.apply(capture());
    await when.timePasses(seconds(5));
    await when.user.delete(REF);
    await when.timePasses(minutes(1));
    await then.isGone(REF);
    expect(driver.snapshots).toEqual([]);
  },
);

/** Writes of Lapse per capture, in alphabetical order: the keeper's status is written at the same time. */
const EACH = [
  'create objectkeepers 201',
  'create volumesnapshotcontents 201',
  'delete objectkeepers 200',
  'delete volumecapturerequests 200',
  'patch objectkeepers/status 200',
  'patch volumecapturerequests 200',
  'patch volumecapturerequests 200',
  'patch volumecapturerequests/status 200',
];

scenario('a capture costs eight writes, from its creation to its deletion', async (scene) => {
  const { given, when, then } = scene;
  await stockCluster(given);
  const writesOfOne = async () => {
    const before = then.writes().length;
    await captured(scene);
    await when.timePasses(minutes(11));
    const writes = then.writes().slice(before);
    return writes
      .map(({ verb, resource, subresource, status }) => {
        const what = subresource === undefined ? resource : `${resource}/${subresource}`;
        return `${verb} ${what} ${status}`;
      })
      .sort();
  };
  // Once per process: the CRD refuses a content without a reference.
  expect(await writesOfOne()).toEqual([...EACH, 'create volumesnapshotcontents 422'].sort());
  expect(await writesOfOne()).toEqual(EACH);
});
