// The YAML of this folder, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minutes, seconds } from '@lapse/base/instant';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import type { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect } from 'vitest';
import { scenario } from '../../test/scenarios/scenario.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const yaml = read('capture.yaml');
/** The timeline people are shown. */
const [, shown = ''] = /```timeline\n([^`]*)```/.exec(read('README.md')) ?? [];

scenario('a volume is captured, and everything ends ten minutes later', async ({ given, when, then }) => {
  given.controllers('volume-capture', 'object-keeper', 'request-ttl');
  given.kinds(...STOCK_SNAPSHOT_KINDS);
  given.simulatedControllers(
    ...simulatedControllersNamed(['owner-gc', 'pv-binder', 'snapshot-controller', 'csi-snapshotter']),
  );
  await given.object(yaml);
  await when.timePasses(seconds(1));
  const taken = await then.object<VolumeCaptureRequest>('vcr/before-the-upgrade');
  expect(taken.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True', reason: 'Completed' }]);
  const artifact = `vsc/${taken.status!.dataRef!.name}`;
  await then.exists(artifact);
  const typo = await then.object<VolumeCaptureRequest>('vcr/a-typo');
  expect(typo.status?.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'NotFound' }]);
  await when.timePasses(minutes(10));
  await then.isGone('vcr/before-the-upgrade');
  await then.isGone('vcr/a-typo');
  await then.isGone(artifact);
  await then.exists('pvc/orders');
  then.timeline().toEqual(shown);
});
