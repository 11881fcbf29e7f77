// The YAML of this folder, exactly as it stands, in a simulated cluster: first with its configuration, then without.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hours, minutes, seconds } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { scenario } from '../../test/scenarios/scenario.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const { apiVersion, kind, ...configuration } = parse(read('lapse.yaml')) as JsonObject;

scenario('a dry run tells once what it would do, and does nothing', async ({ given, when, then }) => {
  expect([apiVersion, kind]).toEqual(['lapse.dev/v1alpha1', 'LapseConfiguration']);
  given.controllers('ttl-after-finished');
  given.configuration(configuration);
  given.simulatedControllers(...simulatedControllersNamed(['owner-gc', 'job-finisher']));
  await given.object(read('jobs.yaml'));
  await when.timePasses(hours(5));
  await then.exists('job/old-report');
  expect((await then.events('job/old-report')).map(({ reason }) => reason)).toEqual(['WouldDelete']);
  expect(await then.events('job/evidence')).toEqual([]);
});

scenario('without it, what was told happens', async ({ given, when, then }) => {
  given.controllers('ttl-after-finished');
  given.simulatedControllers(...simulatedControllersNamed(['owner-gc', 'job-finisher']));
  await given.object(read('jobs.yaml'));
  await when.timePasses(seconds(61));
  await then.isGone('job/old-report');
  await when.timePasses(minutes(60));
  await then.exists('job/evidence');
});
