// The YAML of this folder, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hours, type Millis, seconds } from '@lapse/base/instant';
import type { TTLPolicy } from 'lapse/api/ttlPolicy';
import { expect } from 'vitest';
import { scenario } from '../../test/scenarios/scenario.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
/** What the README promises: name and hours. */
const promised = [...read('README.md').matchAll(/^\| `(\S+)` \|[^|]*\| (\d*)h? ?[a-z]*\s*\|/gm)].map(
  ([, name = '', after = '']) => ({ name, after: after === '' ? undefined : Number(after) }),
);

scenario('pipeline runs go by outcome', async ({ given, when, then }) => {
  given.controllers('ttl-policy');
  given.configuration({ actAs: 'controller' });
  await given.object(read('1-crd.yaml'));
  await given.object(read('2-policy.yaml'));
  await given.object(read('3-runs.yaml'));
  await when.timePasses(seconds(10));
  const ends = promised.filter(({ after }) => after !== undefined).sort((a, b) => a.after! - b.after!);
  expect(ends.map(({ name }) => name)).toEqual(['build-1', 'demo', 'build-2', 'release-7']);
  expect((await then.object<TTLPolicy>('ttlpolicy/pipeline-runs')).status).toMatchObject({
    matched: 6,
    waiting: 4,
  });
  let passed = seconds(10);
  for (const { name, after } of ends) {
    await when.timePasses((hours(after!) - passed - 1) as Millis);
    await then.exists(`pipelinerun/${name}`);
    await when.timePasses(1 as Millis);
    await then.isGone(`pipelinerun/${name}`);
    passed = hours(after!);
  }
  await when.timePasses(seconds(10));
  await then.exists('pipelinerun/build-3');
  await then.exists('pipelinerun/under-study');
  expect((await then.object<TTLPolicy>('ttlpolicy/releases')).status).toMatchObject({
    matched: 0,
    deleted: 1,
  });
  expect((await then.object<TTLPolicy>('ttlpolicy/pipeline-runs')).status).toMatchObject({
    matched: 2,
    deleted: 3,
  });
});
