// The YAML of this folder, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minutes, seconds } from '@lapse/base/instant';
import { SNAPSHOT_KINDS } from '@lapse/simulation/controllers/snapshotKinds';
import type { VolumeRestoreRequest } from 'lapse/api/volumeRestoreRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect } from 'vitest';
import { scenario } from '../../test/scenarios/scenario.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const yaml = read('restore.yaml');
/** The timeline people are shown. */
const [, shown = ''] = /```timeline\n([^`]*)```/.exec(read('README.md')) ?? [];

scenario('a volume comes back, and stays when its request goes', async ({ given, when, then }) => {
  given.controllers('volume-restore', 'object-keeper', 'request-ttl');
  given.kinds(...SNAPSHOT_KINDS);
  given.simulatedControllers(...simulatedControllersNamed(['owner-gc', 'csi-snapshotter', 'provisioner']));
  await given.object(yaml);
  await when.timePasses(seconds(1));
  const back = await then.object<VolumeRestoreRequest>('vrr/last-week');
  expect(back.status).toMatchObject({
    conditions: [{ type: 'Ready', status: 'True', reason: 'Completed' }],
    targetPVCRef: { name: 'orders-of-last-week', namespace: 'default' },
  });
  const refused = await then.object<VolumeRestoreRequest>('vrr/impossible');
  expect(refused.status?.conditions).toMatchObject([{ status: 'False', reason: 'RestoreFailed' }]);
  await when.timePasses(minutes(10));
  await then.isGone('vrr/last-week');
  await then.isGone('vrr/impossible');
  await then.exists('pvc/orders-of-last-week');
  then.timeline().toEqual(shown);
});
