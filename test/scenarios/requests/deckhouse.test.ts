// Captures and restores with the snapshot CRDs of Deckhouse and its patched controllers.

import { minutes } from '@lapse/base/instant';
import type { VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { readyOf, restore } from './kit.ts';
import { captured, deckhouseCluster, sourceOf } from './stock.testkit.ts';

scenario('a content without a VolumeSnapshot is taken, restored and deleted', async (scene) => {
  const { given, when, then } = scene;
  const driver = await deckhouseCluster(given);
  const source = sourceOf(await captured(scene));
  const { spec } = await then.object<VolumeSnapshotContent>(`vsc/${source.name}`);
  expect(spec?.volumeSnapshotRef).toEqual({});
  await when.user.apply(restore('back', { sourceRef: source }));
  await when.timePasses(minutes(1));
  expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
  await when.timePasses(minutes(11));
  await then.isGone(`vsc/${source.name}`);
  expect(driver.snapshots).toEqual([]);
});
