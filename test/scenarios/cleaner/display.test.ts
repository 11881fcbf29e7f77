// Targets that are neither included nor deleted are for display only. Included targets that another actor deleted.

import { minutes } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, ready, reasonOf, statusOf, target } from './kit.ts';

const secret = { name: 's', reference: { kind: 'secret', name: 's' } };

describe('a target that is neither included nor deleted never changes a decision', () => {
  scenario('even if its GET keeps failing', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a'),
      cleaner({ ttl: '1m', targets: [target('a', 'a', { delete: true }), secret] }),
    ]);
    scene.when.serverAnswers('get secrets s', 500, { times: 1000 });
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone('configmap/a');
    await scene.then.isGone('cleaner/c');
  });

  scenario('even while conditions are false: status and the next evaluation are as usual', async (scene) => {
    begin(scene);
    await scene.given.object(configMap('first'));
    scene.when.serverAnswers('get secrets s', 500, { times: 1000 });
    await scene.given.object([
      configMap('a'),
      cleaner({
        ttl: '0s',
        targets: [target('a', 'a', { include: true }), secret],
        conditions: ['false'],
        retry: { period: '1h' },
      }),
    ]);
    expect(await reasonOf(scene)).toBe('WaitingForConditions');
    expect((await statusOf(scene)).resolvedTargets).toEqual(['a.configmaps/v1']);
  });
});

describe('an included target that another actor deleted', () => {
  scenario('with delete: true its absence counts as done, and conditions see null', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a'),
      configMap('b'),
      cleaner({
        ttl: '0s',
        targets: [target('a', 'a', { include: true, delete: true }), target('b', 'b', { delete: true })],
        conditions: ['a == null || has(a.metadata.labels)'],
        retry: { period: '1h' },
      }),
    ]);
    expect(await reasonOf(scene)).toBe('WaitingForConditions');
    await scene.when.user.delete('configmap/a');
    await scene.then.isGone('configmap/b');
    await scene.then.isGone('cleaner/c');
  });

  scenario(
    'with delete: true a condition that reads its fields is an error, and nothing is deleted',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        configMap('b'),
        cleaner({
          ttl: '0s',
          targets: [target('a', 'a', { include: true, delete: true }), target('b', 'b', { delete: true })],
          conditions: ['a.metadata.name == "a"'],
          retry: { period: '1h' },
        }),
      ]);
      expect(await reasonOf(scene)).toBe('ConditionError');
      await scene.then.exists('configmap/b');
    },
  );

  scenario('without delete it stays TargetNotFound', async (scene) => {
    begin(scene);
    await scene.given.object([
      cleaner({
        ttl: '0s',
        targets: [target('a', 'a', { include: true })],
        conditions: ['a == null'],
        retry: { period: '1h' },
      }),
    ]);
    expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'TargetNotFound' });
  });
});
