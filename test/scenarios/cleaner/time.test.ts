// When a Cleaner is reconciled: at its TTL, on changes of its targets, at its period, and at the computed time.

import { formatTime, hours, instant, type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { askedAboutTargets, begin, cleaner, configMap, ready, reasonOf, statusOf, target } from './kit.ts';
import { restartWith } from './many.ts';

const timeAt = (length: Millis): string => formatTime(instant(VIRTUAL_START + length));
const DAY = hours(24);
const flipAfter = (length: Millis): string => `time > timestamp("${timeAt(length)}")`;
const evaluations = async (scene: Scene): Promise<number> => {
  const { registry } = await scene.simulation();
  return [...registry.text().matchAll(/^lapse_cleaner_evaluations_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
};

describe('the TTL', () => {
  scenario('1. before the TTL expires no target is read, and status shows the deadline', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a'),
      cleaner({
        targets: [target('a', 'a', { delete: true, include: true })],
        conditions: ['true'],
        retry: { period: '5m' },
      }),
    ]);
    expect(await reasonOf(scene)).toBe('NotExpired');
    await scene.when.timePasses(millis(hours(1) - 1));
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(hours(1)));
    expect(askedAboutTargets(scene)).toEqual([]);
    await scene.then.exists('configmap/a');
    await scene.when.timePasses(millis(1));
    await scene.then.isGone('configmap/a');
    await scene.then.isGone('cleaner/c');
  });

  scenario('3. an edit of the TTL to shorter and longer reschedules the deletion', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), cleaner({ targets: [target('a', 'a', { delete: true })] })]);
    await scene.when.user.patch('cleaner/c', { spec: { ttl: '10h' } });
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(hours(10)));
    await scene.when.timePasses(hours(2));
    await scene.then.exists('configmap/a');
    await scene.when.user.patch('cleaner/c', { spec: { ttl: '150m' } });
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(minutes(150)));
    const reconciles = (await scene.simulation()).reconciles.length;
    await scene.when.timePasses(minutes(30));
    await scene.then.isGone('configmap/a');
    // One reconcile at the deadline and one for the deletion event: the earlier deadlines were dropped.
    expect((await scene.simulation()).reconciles.length - reconciles).toBeLessThanOrEqual(3);
  });

  scenario(
    '4. thirty days do not fire at once; an invalid duration affects only its own Cleaner',
    async (scene) => {
      begin(scene);
      await scene.given.object([
        configMap('a'),
        configMap('b'),
        cleaner({ ttl: '720h', targets: [target('a', 'a', { delete: true })] }),
        cleaner({ targets: [target('b', 'b', { delete: true })] }, { name: 'other' }),
      ]);
      // A spec that admission would refuse is stored while no webhook runs.
      (await scene.simulation()).crash();
      await scene.when.user.apply(
        cleaner({ ttl: '2 weeks', targets: [target('a', 'a', { delete: true })] }, { name: 'odd' }),
      );
      await scene.when.processRestarts();
      expect(await reasonOf(scene, 'cleaner/odd')).toBe('InvalidSpec');
      expect((await statusOf(scene, 'cleaner/odd')).nextScheduledEvaluation).toBeUndefined();
      await scene.when.timePasses(hours(2));
      await scene.then.isGone('configmap/b');
      await scene.when.timePasses(hours(717));
      await scene.then.exists('configmap/a');
      await scene.when.timePasses(hours(1));
      await scene.then.isGone('configmap/a');
      await scene.then.exists('cleaner/odd');
    },
  );
});

describe('changes of objects that conditions read', () => {
  const watching = (scene: Scene) => {
    begin(scene);
    return scene.given.object([
      configMap('mine', { app: 'x' }),
      configMap('other', { app: 'y' }),
      cleaner({
        ttl: '0s',
        targets: [
          target('maps', { app: 'x' }, { include: true }),
          target('one', 'single', { include: true }),
        ],
        conditions: ['maps.items.size() == 7'],
        retry: { period: '5h' },
      }),
      configMap('single'),
    ]);
  };

  scenario(
    '15. a change of a resolved target is evaluated within a second; other objects of its kind trigger nothing',
    async (scene) => {
      await watching(scene);
      await scene.when.timePasses(seconds(10));
      const { reconciles } = await scene.simulation();
      const before = reconciles.length;
      await scene.when.user.patch('configmap/other', { data: { a: '1' } });
      await scene.when.user.apply(configMap('stranger', { app: 'z' }));
      await scene.when.timePasses(seconds(5));
      expect(reconciles.length).toBe(before);
      const counted = await evaluations(scene);
      for (const ref of ['configmap/mine', 'configmap/single']) {
        const at = scene.now();
        await scene.when.user.patch(ref, { data: { changed: 'yes' } });
        expect(reconciles.at(-1)!.at - at).toBeLessThan(1000);
      }
      expect((await evaluations(scene)) - counted).toBe(2);
    },
  );

  scenario('16. so are objects that are created, deleted, and relabelled in and out', async (scene) => {
    await watching(scene);
    const counts = async () => ((await statusOf(scene)).resolvedTargetCount ?? 0) - 1;
    expect(await counts()).toBe(1);
    await scene.when.user.apply(configMap('new', { app: 'x' }));
    expect(await counts()).toBe(2);
    await scene.when.user.patch('configmap/other', { metadata: { labels: { app: 'x' } } });
    expect(await counts()).toBe(3);
    await scene.when.user.patch('configmap/mine', { metadata: { labels: { app: 'z' } } });
    expect(await counts()).toBe(2);
    await scene.when.user.delete('configmap/new');
    expect(await counts()).toBe(1);
    expect((await statusOf(scene)).resolvedTargets).toEqual(['other.configmaps/v1', 'single.configmaps/v1']);
  });

  scenario(
    'watches start at the TTL, are shared, and stop with the last Cleaner that needs them',
    async (scene) => {
      begin(scene);
      const looking = (name: string, ttl: string) =>
        cleaner(
          {
            ttl,
            targets: [target('a', 'a', { include: true })],
            conditions: ['false'],
            retry: { period: '9h' },
          },
          { name },
        );
      await scene.given.object([
        configMap('a'),
        looking('one', '1h'),
        looking('two', '2h'),
        looking('three', '100h'),
      ]);
      const watches = () => scene.then.requests('watch configmaps').length;
      const lists = () => scene.then.requests('list configmaps').length;
      expect(watches()).toBe(0);
      await scene.when.timePasses(hours(3));
      expect([lists(), watches()]).toEqual([1, 1]);
      const { reconciles } = await scene.simulation();
      const before = reconciles.length;
      await scene.when.user.patch('configmap/a', { data: { x: '1' } });
      // Exactly those whose TTL has expired.
      expect(
        reconciles
          .slice(before)
          .map(({ key }) => key)
          .sort(),
      ).toEqual(['default/one', 'default/two']);
      await scene.when.user.delete('cleaner/one');
      await scene.when.user.delete('cleaner/two');
      const later = reconciles.length;
      await scene.when.user.patch('configmap/a', { data: { x: '2' } });
      expect(reconciles.length).toBe(later);
      expect([lists(), watches()]).toEqual([1, 1]);
    },
  );

  scenario('a forbidden watch: evaluated at the period only, and status says so', async (scene) => {
    begin(scene);
    await scene.given.object(configMap('a'));
    const forever = { times: Number.POSITIVE_INFINITY };
    scene.when.serverAnswers(
      ({ resource, verb, query }) =>
        resource === 'configmaps' &&
        (verb === 'watch' || (verb === 'list' && !query.includes('labelSelector'))),
      403,
      forever,
    );
    await scene.when.user.apply(
      cleaner({
        ttl: '0s',
        targets: [target('a', 'a', { include: true, delete: true })],
        conditions: ['has(a.data) && has(a.data.done)'],
        retry: { period: '1h', monotonic: true },
      }),
    );
    expect(await reasonOf(scene)).toBe('WaitingForConditions');
    expect((await ready(scene)).message).toContain('only the period counts');
    await scene.when.user.patch('configmap/a', { data: { done: 'yes' } });
    await scene.when.timePasses(minutes(59));
    await scene.then.exists('configmap/a');
    await scene.when.timePasses(minutes(2));
    await scene.then.isGone('configmap/a');
  });
});

describe('the period', () => {
  scenario('is measured from the evaluation', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('a'),
      cleaner({
        ttl: '0s',
        targets: [target('a', 'a', { include: true })],
        conditions: ['false'],
        retry: { period: '2h' },
      }),
    ]);
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(hours(2)));
    await scene.when.timePasses(hours(1));
    await scene.when.user.patch('configmap/a', { data: { x: '1' } });
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(hours(3)));
    await scene.when.timePasses(hours(4));
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(hours(7)));
  });
});

describe('retry.monotonic', () => {
  const monotonic = (condition: string, more = {}) =>
    cleaner({
      ttl: '0s',
      targets: [target('a', 'a', { include: true, delete: true })],
      conditions: [condition],
      retry: { period: '5h', monotonic: true },
      ...more,
    });

  scenario('21. a flip in fifteen days is computed, and nothing is evaluated in between', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), monotonic(flipAfter(millis(15 * DAY)))]);
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(millis(15 * DAY)));
    expect(await evaluations(scene)).toBe(1);
    await scene.when.timePasses(millis(15 * DAY));
    expect(await evaluations(scene)).toBe(1);
    await scene.then.exists('configmap/a');
    await scene.when.timePasses(seconds(1));
    await scene.then.isGone('configmap/a');
    await scene.then.isGone('cleaner/c');
  });

  scenario(
    '21. with cleaner.maxSleep it is evaluated once a day, and status shows the computed time',
    async (scene) => {
      begin(scene, { maxSleep: '24h' });
      await scene.given.object([configMap('a'), monotonic(flipAfter(millis(3 * DAY)))]);
      expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(millis(DAY)));
      expect((await ready(scene)).message).toContain(`become true at ${timeAt(millis(3 * DAY))}`);
      await scene.when.timePasses(millis(3 * DAY));
      expect(await evaluations(scene)).toBeLessThanOrEqual(4);
      await scene.when.timePasses(seconds(1));
      await scene.then.isGone('configmap/a');
    },
  );

  scenario.each(
    {
      '22. no flip up to the horizon: the period': 'time < timestamp("2025-01-01T00:00:00Z")',
      '22. an error at the horizon: the period':
        'time < timestamp("2026-01-05T00:00:00Z") ? false : [1][7] == 1',
    },
    async (scene, condition) => {
      begin(scene);
      await scene.given.object([configMap('a'), monotonic(condition)]);
      expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(hours(5)));
      await scene.when.timePasses(hours(11));
      expect(await evaluations(scene)).toBe(3);
      await scene.then.exists('configmap/a');
    },
  );

  // Hours as numbers: the engine cannot compute the time, so it has to search and rely on the assertion.
  const hour = `int((time - timestamp("${timeAt(millis(0))}")).getHours())`;

  scenario('23. a wrong assertion is detected: an Event, and evaluation at the period', async (scene) => {
    begin(scene);
    const sometimes = `int(time) / 3600 % 2 == 1`;
    await scene.given.object([
      configMap('a'),
      monotonic(
        `${sometimes} && int(time) > 1767225600 + 3600 * 24 * 400 || int(time) > 1767225600 + 3600 * 24 * 3000`,
      ),
    ]);
    expect((await scene.then.events('cleaner/c')).map(({ reason }) => reason)).toContain('NotMonotonic');
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(hours(5)));
  });

  scenario('23. a window that the search misses passes, and nothing is deleted early', async (scene) => {
    begin(scene);
    const window = `(${hour} >= 12 && ${hour} < 18) || ${hour} >= 9600`;
    await scene.given.object([configMap('a'), monotonic(window)]);
    await scene.when.timePasses(hours(10));
    await scene.then.exists('configmap/a');
    const deletions = () => scene.then.requests('delete configmaps');
    expect(deletions()).toEqual([]);
    await scene.when.timePasses(hours(9600));
    await scene.then.isGone('configmap/a');
    expect(deletions()).toHaveLength(1);
  });

  scenario('23. a change of a target discards the computed time', async (scene) => {
    begin(scene);
    const condition = `has(a.data) && "at" in a.data && time > timestamp(a.data.at)`;
    await scene.given.object([
      { ...configMap('a'), data: { at: timeAt(millis(9 * DAY)) } } as never,
      monotonic(condition),
    ]);
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(millis(9 * DAY)));
    await scene.when.user.patch('configmap/a', { data: { at: timeAt(millis(20 * DAY)) } });
    expect((await statusOf(scene)).nextScheduledEvaluation).toBe(timeAt(millis(20 * DAY)));
    await scene.when.timePasses(millis(10 * DAY));
    await scene.then.exists('configmap/a');
    await scene.when.user.patch('configmap/a', { data: { at: timeAt(millis(11 * DAY)) } });
    await scene.when.timePasses(millis(DAY + 1000));
    await scene.then.isGone('configmap/a');
  });
});

describe('restarts', () => {
  scenario('26. waiting Cleaners cost no request, due ones run', (scene) => restartWith(scene, 20));

  scenario('26. only the leader acts', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('a'), cleaner({ targets: [target('a', 'a', { delete: true })] })]);
    await scene.when.leadershipIsLost();
    await scene.when.timePasses(hours(5));
    await scene.then.exists('configmap/a');
    await scene.when.leadershipReturns();
    await scene.then.isGone('configmap/a');
  });
});
