// Volume snapshots, from the request until everything is deleted.

import { minutes, seconds } from '@lapse/base/instant';
import { expect } from 'vitest';
import { requestScenario } from './invariants.ts';
import { capture, readyOf, volumeWorld } from './kit.ts';

requestScenario(
  'a claim is captured, the request expires, and everything it created is deleted with it',
  async (scene) => {
    const { given, when, then } = scene;
    await volumeWorld(given);
    await when.user.apply(capture());
    expect(await readyOf(then, 'vcr/nightly')).toBeUndefined();
    await when.timePasses(seconds(1));
    expect(await readyOf(then, 'vcr/nightly')).toBe('True Completed');
    const { uid } = (await then.object('vcr/nightly')).metadata;
    await then.exists(`objectkeeper/ret-snapshot-${uid}`);
    await then.exists(`vsc/snapshot-${uid}`);
    await when.timePasses(minutes(10));
    await then.isGone('vcr/nightly');
    await then.isGone(`objectkeeper/ret-snapshot-${uid}`);
    await then.isGone(`vsc/snapshot-${uid}`);
  },
);
