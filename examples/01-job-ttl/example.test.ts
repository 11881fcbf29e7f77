// The YAML of this folder, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { millis, minutes, seconds } from '@lapse/base/instant';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { scenario } from '../../test/scenarios/scenario.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const yaml = read('jobs.yaml');
/** The timeline people are shown. */
const [, shown = ''] = /```\n(\+00:05[^`]*)```/.exec(read('README.md')) ?? [];

scenario('Jobs go when they are done', async ({ given, when, then }) => {
  given.controllers('ttl-after-finished');
  given.simulatedControllers(...simulatedControllersNamed(['owner-gc', 'job-finisher']));
  await given.object(yaml);
  await when.timePasses(seconds(9));
  await then.exists('job/throw-away');
  await when.timePasses(seconds(1));
  await then.isGone('job/throw-away');
  await when.timePasses(millis(24_999));
  await then.exists('job/report');
  await when.timePasses(millis(1));
  await then.isGone('job/report');
  await when.timePasses(minutes(60));
  await then.exists('job/under-study');
  then.timeline().toEqual(shown);
});

scenario('an extension while it waits', async ({ given, when, then }) => {
  given.controllers('ttl-after-finished');
  given.simulatedControllers(...simulatedControllersNamed(['owner-gc', 'job-finisher']));
  await given.object(yaml);
  await when.timePasses(seconds(30));
  await when.user.patch('job/report', { spec: { ttlSecondsAfterFinished: 3600 } });
  await when.timePasses(minutes(59));
  await then.exists('job/report');
  await when.timePasses(minutes(1));
  await then.isGone('job/report');
});
