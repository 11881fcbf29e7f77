// The YAML of this folder, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hours, seconds } from '@lapse/base/instant';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect } from 'vitest';
import { scenario } from '../../test/scenarios/scenario.ts';

const yaml = readFileSync(join(import.meta.dirname, 'pods.yaml'), 'utf8');

scenario('Pods go when they are done, and say why they do not', async ({ given, when, then }) => {
  given.controllers('ttl-after-finished');
  given.gates({ TTLAfterFinishedPods: true });
  given.simulatedControllers(...simulatedControllersNamed(['pod-finisher']));
  await given.object(yaml);
  await when.timePasses(seconds(64));
  await then.exists('pod/build');
  await when.timePasses(seconds(1));
  await then.isGone('pod/build');
  await when.timePasses(hours(24));
  await then.exists('pod/misspelled');
  const [event] = await then.events('pod/misspelled');
  expect(event).toMatchObject({ reason: 'InvalidTTL', type: 'Warning' });
  expect(event!.note).toContain('is "1m", not a whole number of seconds');
});
