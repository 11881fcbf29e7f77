// While a Cleaner waits for its TTL, the cache holds only its identity and its deadline. At the deadline the object is
// read.

import { hours, minutes } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { begin, cleaner, configMap, reasonOf, statusOf, target } from './kit.ts';

const targets = [target('a', 'a', { delete: true })];

async function givenWaiting(scene: Scene): Promise<void> {
  begin(scene);
  await scene.given.object([configMap('a'), cleaner({ targets })]);
  expect(await reasonOf(scene)).toBe('NotExpired');
}

const reads = ({ then }: Scene): number =>
  then.requests(({ verb, resource }) => verb === 'get' && resource === 'cleaners').length;

describe('at the end of its TTL a Cleaner is read from the API server', () => {
  scenario('once, and not earlier', async (scene) => {
    await givenWaiting(scene);
    await scene.when.timePasses(minutes(59));
    expect(reads(scene)).toBe(0);
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('configmap/a');
    await scene.then.isGone('cleaner/c');
    expect(reads(scene)).toBe(1);
  });

  scenario('so an extended TTL applies, though the watch has not delivered it', async (scene) => {
    await givenWaiting(scene);
    scene.when.cachesAreStale();
    await scene.when.user.patch('cleaner/c', { spec: { ttl: '10h' } });
    await scene.when.timePasses(hours(2));
    await scene.then.exists('configmap/a');
    await scene.when.cachesCatchUp();
    await scene.when.timePasses(hours(7));
    await scene.then.exists('configmap/a');
    await scene.when.timePasses(hours(1));
    await scene.then.isGone('configmap/a');
  });

  scenario(
    'so a Cleaner that a user deleted deletes nothing, though the watch has not delivered it',
    async (scene) => {
      await givenWaiting(scene);
      scene.when.cachesAreStale();
      await scene.when.user.delete('cleaner/c');
      await scene.when.timePasses(hours(2));
      await scene.when.cachesCatchUp();
      await scene.then.exists('configmap/a');
    },
  );

  scenario(
    'so another Cleaner of the same name has its own TTL, though the watch has not delivered it',
    async (scene) => {
      await givenWaiting(scene);
      scene.when.cachesAreStale();
      await scene.when.user.delete('cleaner/c');
      await scene.when.user.apply(cleaner({ ttl: '5h', targets }));
      await scene.when.timePasses(hours(2));
      await scene.when.cachesCatchUp();
      await scene.then.exists('configmap/a');
      await scene.when.timePasses(hours(3));
      await scene.then.isGone('configmap/a');
    },
  );

  scenario('and is read again when the API server does not answer', async (scene) => {
    await givenWaiting(scene);
    scene.when.serverAnswers(({ verb, resource }) => verb === 'get' && resource === 'cleaners', 500, {
      times: 5,
    });
    await scene.when.timePasses(hours(2));
    await scene.then.isGone('configmap/a');
  });
});

scenario('conditions of other writers in status survive the wait and the first evaluation', async (scene) => {
  begin(scene);
  const spec = { targets, conditions: ['false'], retry: { period: '5m' } };
  await scene.given.object([configMap('a'), cleaner(spec)]);
  const audited = { type: 'Audited', status: 'True', reason: 'Seen', message: 'by another controller' };
  const { conditions = [] } = await statusOf(scene);
  const simulation = await scene.simulation();
  await simulation.userClient.status('cleaner/c', { conditions: [audited, ...conditions] });
  await simulation.settle();
  await scene.when.timePasses(hours(2));
  expect(await reasonOf(scene)).toBe('WaitingForConditions');
  expect((await statusOf(scene)).conditions).toContainEqual(audited);
});

scenario('a replica that becomes leader again deletes on time what was waiting meanwhile', async (scene) => {
  await givenWaiting(scene);
  await scene.when.leadershipIsLost();
  await scene.when.timePasses(minutes(30));
  await scene.when.leadershipReturns();
  await scene.then.exists('configmap/a');
  await scene.when.timePasses(minutes(30));
  await scene.then.isGone('configmap/a');
});
