// Countdowns start from times of the server: a clock that was behind when a time was written, and is corrected later,
// causes no early deletion.

import {
  formatTime,
  type Millis,
  millis,
  minus,
  minutes,
  parseTime,
  plus,
  seconds,
} from '@lapse/base/instant';
import type { ObjectKeeper } from 'lapse/api/objectKeeper';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import { FAMILIES, REF as MANIFESTS, manifests, manifestWorld } from '../manifest/kit.ts';
import type { Scene } from '../scene.ts';
import { requestScenario } from './invariants.ts';
import { capture, volumeWorld } from './kit.ts';

const KEEPER = 'objectkeeper/k';

/** A keeper that is kept for `ttl` after the ConfigMap it follows is gone. */
async function following({ given, when, then }: Scene, ttl: string): Promise<void> {
  given.controllers('object-keeper');
  given.configuration({ objectKeeper: { follow: ['configmaps'] } });
  await given.object({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'it', namespace: 'default' } });
  const { apiVersion, kind, metadata } = await then.object('configmap/it');
  const { namespace, name, uid } = metadata;
  const followObjectRef = { apiVersion, kind, namespace, name, uid };
  await when.user.apply({
    apiVersion: 'deckhouse.io/v1alpha1',
    kind: 'ObjectKeeper',
    metadata: { name: 'k' },
    spec: { mode: 'FollowObjectWithTTL', ttl, followObjectRef },
  });
  await when.timePasses(minutes(1));
}

const behind = (length: Millis): Millis => millis(-length);

requestScenario(
  'a deletion found while the clock is behind within limits: the keeper is kept for its full TTL',
  async (scene) => {
    const { when, then } = scene;
    await following(scene, '30s');
    await when.clockJumps(behind(seconds(28)));
    await when.timePasses(seconds(1));
    const lost = scene.now();
    await when.user.delete('configmap/it');
    await when.timePasses(seconds(1));
    const { lostAt } = (await then.object<ObjectKeeper>(KEEPER)).status!;
    const late = minus(parseTime(lostAt!), lost);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThanOrEqual(seconds(3));
    await when.clockJumps(seconds(28));
    await when.timePasses(minus(plus(lost, seconds(29)), scene.now()));
    await then.exists(KEEPER);
    await when.timePasses(seconds(5));
    await then.isGone(KEEPER);
  },
);

requestScenario(
  'a deletion found while the clock is far behind counts from the correction of the clock',
  async (scene) => {
    const { when, then } = scene;
    await following(scene, '30m');
    await when.clockJumps(behind(minutes(25)));
    await when.timePasses(seconds(1));
    await when.user.delete('configmap/it');
    await when.timePasses(minutes(2));
    expect((await then.object<ObjectKeeper>(KEEPER)).status!.lostAt).toBeUndefined();
    await when.clockJumps(minutes(25));
    const right = scene.now();
    await when.timePasses(minutes(1));
    const { lostAt } = (await then.object<ObjectKeeper>(KEEPER)).status!;
    expect(parseTime(lostAt!)).toBeGreaterThanOrEqual(right);
    await when.timePasses(minutes(28));
    await then.exists(KEEPER);
    await when.timePasses(minutes(2));
    await then.isGone(KEEPER);
  },
);

requestScenario(
  'a capture does not complete while the clock is far behind, and is then kept for its full TTL',
  async (scene) => {
    const { given, when, then } = scene;
    await volumeWorld(given, { configuration: { requestTTL: { ttl: '10m' } } });
    await when.clockJumps(behind(minutes(8)));
    await when.user.apply(capture());
    await when.timePasses(minutes(1));
    const ref = 'volumecapturerequest/nightly';
    expect((await then.object<RequestObject>(ref)).status?.completionTimestamp).toBeUndefined();
    await when.clockJumps(minutes(8));
    const right = scene.now();
    await when.timePasses(minutes(1));
    const { status } = await then.object<RequestObject>(ref);
    const completed = parseTime(status!.completionTimestamp!);
    expect(completed).toBeGreaterThanOrEqual(right);
    const end = formatTime(plus(completed, minutes(10)));
    expect(status!.conditions![0]!.message).toContain(`at ${end} by its TTL`);
    await when.timePasses(minus(plus(completed, minutes(10)), plus(scene.now(), seconds(1))));
    await then.exists(ref);
    await when.timePasses(seconds(2));
    await then.isGone(ref);
  },
);

requestScenario(
  'a capture of manifests that completes while the clock is behind is kept for its full TTL',
  async (scene) => {
    const { given, when, then } = scene;
    await manifestWorld(given, { families: FAMILIES, configuration: { requestTTL: { ttl: '1m' } } });
    await when.clockJumps(behind(seconds(28)));
    const asked = scene.now();
    await when.user.apply(manifests());
    await when.timePasses(seconds(1));
    const { status } = await then.object<RequestObject>(MANIFESTS);
    expect(parseTime(status!.completionTimestamp!)).toBeGreaterThanOrEqual(asked);
    await when.clockJumps(seconds(28));
    await when.timePasses(seconds(58));
    await then.exists(MANIFESTS);
    await when.timePasses(seconds(5));
    await then.isGone(MANIFESTS);
  },
);
