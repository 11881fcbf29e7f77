// The runner of the scenarios: what it refuses, what it detects, and what its helpers do.

import { millis, minutes, seconds } from '@lapse/base/instant';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { settled } from '@lapse/runtime/outcome';
import { describe, expect, test } from 'vitest';
import { finishedJob, finishedStatus, job } from './kit.ts';
import { scenario } from './scenario.ts';
import { runScene } from './sceneRunner.ts';

const note = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'note' } };

const restless = defineController<ConfigMap>({
  name: 'restless',
  for: ConfigMap,
  facts: () => null,
  rights: [{ group: '', resource: 'configmaps', verbs: ['patch'] }],
  reconcile: async ({ client, key }) => {
    await client.patch(ConfigMap, key, { type: 'merge', patch: { data: { seen: 'yes' } } });
    return settled();
  },
}) as ControllerDefinition;

describe('the double run', () => {
  test('fails the scenario if a controller writes again', async () => {
    const scenario = runScene(async ({ given }) => {
      given.controllers(restless);
      await given.object(note);
    });
    await expect(scenario).rejects.toThrow(/the second run writes.*PATCH .*configmaps\/note/s);
  });
  test('passes if the scenario gives a reason', () =>
    runScene(async ({ given }) => {
      given.controllers(restless);
      given.noDoubleRun('it is what this test is about');
      await given.object(note);
    }));
  test('is skipped if the process is down', () =>
    runScene(async ({ given, simulation }) => {
      given.controllers(restless);
      await given.object(note);
      (await simulation()).crash();
    }));
});

describe('invalid use is refused with a message', () => {
  test.each<[string, Parameters<typeof runScene>[0], string]>([
    [
      'an unknown family',
      async ({ given }) => given.controllers('tll'),
      'there is no family tll, there are: ',
    ],
    [
      'an unknown simulated controller',
      async ({ given }) => given.simulatedControllers('gc'),
      'unknown simulated controller "gc"',
    ],
    [
      'an unknown configuration section',
      async ({ given, when }) => {
        given.controllers('ttl-after-finished');
        given.configuration({ ttlAfterFinnished: {} });
        await when.timePasses(millis(0));
      },
      'ttlAfterFinnished: there is no such field',
    ],
    [
      'settings that are given too late',
      async ({ given }) => {
        await given.object(note);
        given.gates({ A: true });
      },
      'controllers and settings come first',
    ],
    [
      'a fault before the cluster exists',
      async ({ when }) => when.serverAnswers('DELETE', 500),
      'nothing is there yet',
    ],
    ['an object that is not there', async ({ then }) => then.exists('cm/none'), 'cm/none does not exist'],
    [
      'one that is',
      async ({ given, then }) => {
        await given.object(note);
        await then.isGone('cm/note');
      },
      'cm/note exists',
    ],
  ])('%s', async (_what, scenario, message) => {
    await expect(runScene(scenario)).rejects.toThrow(message);
  });
});

scenario('process actions: restart, crash, loss of leadership, clock changes', async (scene) => {
  const { given, when, then } = scene;
  given.controllers('ttl-after-finished');
  given.simulatedControllers('owner-gc');
  for (const name of ['a', 'b', 'c', 'd']) await given.object(job(name, { ttl: minutes(10) }));
  await when.user.status('job/a', finishedStatus());
  await when.processRestarts();
  await when.timePasses(minutes(10));
  await then.isGone('job/a');
  await when.user.status('job/b', finishedStatus());
  await then.isGone('job/b');
  await when.user.status('job/c', finishedStatus({ finishedAt: scene.now() }));
  await when.processCrashes({ downFor: minutes(20) });
  await then.isGone('job/c');
  await when.user.status('job/d', finishedStatus({ finishedAt: scene.now() }));
  await when.leadershipIsLost();
  await when.clockJumps(seconds(5));
  await when.timePasses(minutes(11));
  await then.exists('job/d');
  await when.leadershipReturns();
  await then.isGone('job/d');
});

scenario('server faults: slow answers, refusals, broken watches, stale caches', async (scene) => {
  const { given, when, then } = scene;
  given.controllers('ttl-after-finished');
  given.configuration({ ttlAfterFinished: { jobPropagation: 'Background' } });
  await given.object(finishedJob('a', { ttl: minutes(10) }));
  when.cachesAreStale();
  await when.user.patch('job/a', { spec: { ttlSecondsAfterFinished: 1200 } });
  await when.watchesBreak('gone');
  await when.cachesCatchUp();
  when.serverIsSlow(seconds(1));
  when.serverAnswers('delete jobs', 500);
  expect(
    await when.until(async () => (await then.object('job/a')) === undefined, minutes(1)).catch(() => 'no'),
  ).toBe('no');
  await when.timePasses(minutes(21));
  await when.faultsEnd();
  await then.isGone('job/a');
  expect(then.requests('delete').map(({ status }) => status)).toEqual([500, 200]);
  expect(then.writes()).toHaveLength(2);
});

scenario('Events about an object, oldest first', async ({ given, when, then }) => {
  given.controllers('ttl-after-finished');
  given.configuration({ dryRun: true });
  given.noDoubleRun('a dry run tells once, and asks the server each time it starts');
  await given.object(finishedJob('a', { ttl: minutes(10) }));
  await when.timePasses(minutes(11));
  await then.exists('job/a');
  expect((await then.events('job/a')).map(({ reason }) => reason)).toEqual(['WouldDelete']);
});
