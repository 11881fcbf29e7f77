// The YAML of this folder, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minutes, seconds } from '@lapse/base/instant';
import type { PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import type { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import type { VolumeRestoreRequest } from 'lapse/api/volumeRestoreRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect } from 'vitest';
import { scenario } from '../../test/scenarios/scenario.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const yaml = read('restore.yaml');
const readme = read('README.md');
/** The timeline in the README. */
const [, shown = ''] = /```timeline\n([^`]*)```/.exec(readme) ?? [];
/** The request in the README for a capture of example 04. */
const [, ownRequest = ''] = /```yaml\n(.*?)```/s.exec(readme) ?? [];

const controllers = () =>
  simulatedControllersNamed([
    'owner-gc',
    'pvc-protection',
    'pv-binder',
    'csi-provisioner',
    'snapshot-controller',
    'csi-snapshotter',
  ]);

scenario('a volume is restored, and stays when its request is deleted', async ({ given, when, then }) => {
  given.controllers('volume-restore', 'object-keeper', 'request-ttl');
  given.kinds(...STOCK_SNAPSHOT_KINDS);
  given.simulatedControllers(...controllers());
  await given.object(yaml);
  await when.timePasses(seconds(10));
  const back = await then.object<VolumeRestoreRequest>('vrr/last-week');
  expect(back.status).toMatchObject({
    conditions: [{ type: 'Ready', status: 'True', reason: 'Completed' }],
    targetPVCRef: { name: 'orders-of-last-week', namespace: 'default' },
  });
  await when.timePasses(minutes(6));
  const failed = await then.object<VolumeRestoreRequest>('vrr/impossible');
  expect(failed.status?.conditions).toMatchObject([
    { status: 'False', reason: 'RestoreFailed', message: expect.stringContaining('no space left') },
  ]);
  await then.isGone('pvc/never-made');
  await when.timePasses(minutes(10));
  await then.isGone('vrr/last-week');
  await then.isGone('vrr/impossible');
  await then.exists('pvc/orders-of-last-week');
  await then.exists('vsc/orders-of-last-week');
  then.timeline().toEqual(shown);
});

scenario('a capture is restored under another name', async ({ given, when, then }) => {
  given.controllers('volume-capture', 'volume-restore', 'object-keeper', 'request-ttl');
  given.kinds(...STOCK_SNAPSHOT_KINDS);
  given.simulatedControllers(...controllers());
  await given.object(read('../04-volume-capture/capture.yaml'));
  await when.timePasses(seconds(2));
  const { status } = await then.object<VolumeCaptureRequest>('vcr/before-the-upgrade');
  await when.user.apply(ownRequest.replace('snapshot-3f2a', status!.dataRef!.name));
  await when.timePasses(seconds(5));
  const restored = await then.object<VolumeRestoreRequest>('vrr/orders-again');
  expect(restored.status?.conditions).toMatchObject([{ status: 'True', reason: 'Completed' }]);
  await when.timePasses(minutes(11));
  await then.isGone('vcr/before-the-upgrade');
  const claim = await then.object<PersistentVolumeClaim>('pvc/orders-restored');
  expect(claim.status).toMatchObject({ phase: 'Bound', capacity: { storage: String(1024 ** 3) } });
});
