// The example, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { millis, minutes } from '@lapse/base/instant';
import { expect } from 'vitest';
import { scenario } from '../../test/scenarios/scenario.ts';

const yaml = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

scenario('the release ends after two minutes, what it keeps stays', async ({ given, when, then }) => {
  given.controllers('cleaner');
  given.configuration({ actAs: 'controller' });
  await given.object(yaml('1-release.yaml'));
  await given.object(yaml('2-cleaner.yaml'));
  await when.timePasses(millis(minutes(2) - 1));
  await then.exists('service/preview-7b');
  await when.timePasses(millis(1));
  await then.isGone('service/preview-7b');
  await then.isGone('configmap/preview-7b');
  await then.isGone('secret/sh.helm.release.v1.preview-7b.v1');
  await then.isGone('cleaner/preview-7b');
  await then.exists('persistentvolumeclaim/preview-7b-data');
  expect(then.requests('DELETE').map(({ resource }) => resource)).toEqual([
    'services',
    'configmaps',
    'secrets',
    'cleaners',
  ]);
});
