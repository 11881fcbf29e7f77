// Cleaners while the clock of the process is wrong for a time: no deletion is early, and none is delayed for ever.

import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import { describe } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, target } from './kit.ts';

describe('a clock that is ahead', () => {
  const waits = () => cleaner({ ttl: '10m', targets: [target('a', 'a', { delete: true })] });

  scenario('for a moment, within the tolerated skew: nothing is deleted early', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), waits()]);
    await scene.when.timePasses(seconds(580));
    await scene.when.clockJumps(seconds(25));
    await scene.when.timePasses(seconds(2));
    await scene.then.exists('configmap/a');
    await scene.when.timePasses(seconds(20));
    await scene.then.isGone('configmap/a');
  });

  scenario('when the process starts: nothing is deleted early', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), waits()]);
    await scene.when.timePasses(seconds(580));
    (await scene.simulation()).crash();
    await scene.when.clockJumps(seconds(25));
    await scene.when.processRestarts();
    await scene.when.timePasses(seconds(2));
    await scene.then.exists('configmap/a');
    await scene.when.timePasses(seconds(20));
    await scene.then.isGone('configmap/a');
  });

  scenario('and is corrected: the period counts again', async (scene) => {
    begin(scene);
    const window = 'time.getHours() == 0 && time.getMinutes() >= 20 && time.getMinutes() < 50';
    await scene.given.object([
      configMap('a'),
      cleaner({
        ttl: '1m',
        targets: [target('a', 'a', { delete: true })],
        conditions: [window],
        retry: { period: '1m' },
      }),
    ]);
    await scene.when.timePasses(minutes(10));
    await scene.when.clockJumps(hours(1));
    await scene.when.timePasses(seconds(1));
    await scene.when.clockJumps(millis(-hours(1)));
    await scene.when.timePasses(minutes(35));
    await scene.then.isGone('configmap/a');
  });
});
