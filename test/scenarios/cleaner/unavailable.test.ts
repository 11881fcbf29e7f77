// Every state in which a Cleaner waits is visible in its condition, with a next evaluation in the future.

import { hours, millis, minutes, parseTime, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { begin, cleaner, configMap, ready, statusOf, target } from './kit.ts';

async function expectVisible(scene: Scene, reason: string, words: string): Promise<void> {
  const condition = await ready(scene);
  expect(condition).toMatchObject({ status: 'False', reason });
  expect(condition.message).toContain(words);
  const { nextScheduledEvaluation = '' } = await statusOf(scene);
  expect(parseTime(nextScheduledEvaluation)).toBeGreaterThan(scene.now());
}

const included = cleaner({
  ttl: '1m',
  targets: [target('a', 'a', { delete: true, include: true })],
  conditions: ['true'],
  retry: { period: '10m' },
});
const named = cleaner({ ttl: '1m', targets: [target('a', 'a', { delete: true })] });

describe('a Cleaner that cannot proceed reports it, and resumes when it can', () => {
  scenario('while the LIST of an included target fails', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), included]);
    scene.when.serverAnswers('list configmaps', 500, { times: 100_000 });
    await scene.when.timePasses(seconds(290));
    await expectVisible(scene, 'Unavailable', 'configmaps');
    await scene.when.faultsEnd();
    await scene.when.timePasses(minutes(5));
    await scene.then.isGone('configmap/a');
  });

  scenario('while the GET of a target that is to be deleted fails', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), named]);
    scene.when.serverAnswers('get configmaps a', 503, { times: 100_000 });
    await scene.when.timePasses(seconds(290));
    await expectVisible(scene, 'Unavailable', '');
    await scene.when.faultsEnd();
    await scene.when.timePasses(minutes(5));
    await scene.then.isGone('configmap/a');
  });

  scenario('while a DELETE of a recorded decision fails, and the record stays', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), named]);
    scene.when.serverAnswers('delete configmaps a', 503, { times: 100_000 });
    await scene.when.timePasses(seconds(290));
    await expectVisible(scene, 'Unavailable', '');
    expect((await statusOf(scene)).deletion?.targets).toHaveLength(1);
    await scene.when.faultsEnd();
    await scene.when.timePasses(minutes(5));
    await scene.then.isGone('configmap/a');
    await scene.then.isGone('cleaner/c');
  });

  scenario("while the API server's clock is too far away", async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), named]);
    await scene.when.clockJumps(hours(2));
    await scene.when.timePasses(seconds(10));
    await expectVisible(scene, 'ClockUnknown', 'clock');
    await scene.then.exists('configmap/a');
    await scene.when.clockJumps(millis(-hours(2)));
    await scene.when.timePasses(minutes(10));
    await scene.then.isGone('configmap/a');
  });
});
