import { minutes, seconds } from '@lapse/base/instant';
import type { CleanerSpec } from 'lapse/api/cleaner';
import { describe, expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { widgetOf, widgetsOf } from '../widgets.ts';
import { begin, cleaner, configMap, namespaceOf, ready, reasonOf, target } from './kit.ts';

describe('targets that do not exist', () => {
  const waiting = (more: Partial<CleanerSpec> = {}) =>
    cleaner({
      ttl: '0s',
      targets: [target('a', 'a', { include: true, delete: true })],
      conditions: ['has(a.metadata.labels) && "done" in a.metadata.labels'],
      retry: { period: '5h' },
      ...more,
    });

  scenario(
    '9. a missing included target is reported, and evaluated when it appears, not at the period',
    async (scene) => {
      begin(scene);
      await scene.given.object(
        waiting({ targets: [target('a', 'a', { include: true }), target('b', 'a', { delete: true })] }),
      );
      expect(await ready(scene)).toMatchObject({
        status: 'False',
        reason: 'TargetNotFound',
        message: 'ConfigMap a (a) does not exist',
      });
      await scene.when.timePasses(minutes(10));
      await scene.when.user.apply(configMap('a'));
      expect(await reasonOf(scene)).toBe('WaitingForConditions');
      await scene.when.user.delete('configmap/a');
      expect(await reasonOf(scene)).toBe('TargetNotFound');
      await scene.when.user.apply(configMap('a', { done: 'yes' }));
      await scene.then.isGone('configmap/a');
      await scene.then.isGone('cleaner/c');
    },
  );

  scenario('10. a missing target that conditions do not read never blocks', async (scene) => {
    begin(scene);
    await scene.given.object([
      configMap('b'),
      cleaner({
        ttl: '0s',
        targets: [target('a', 'missing', { delete: true }), target('b', 'b', { delete: true })],
      }),
    ]);
    await scene.then.isGone('configmap/b');
    await scene.then.isGone('cleaner/c');
  });

  scenario('11. when all targets are gone already, the Cleaner is deleted, with one Event', async (scene) => {
    begin(scene);
    await scene.given.object(
      cleaner({
        ttl: '0s',
        targets: [target('a', 'missing', { delete: true }), target('b', { app: 'x' }, { delete: true })],
        helm: { release: 'nothing', delete: true },
      }),
    );
    await scene.then.isGone('cleaner/c');
    const events = await scene.then.events('cleaner/c');
    expect(events.map(({ reason }) => reason)).toEqual(['NothingToDelete']);
  });

  const onWidget = waiting({
    targets: [
      {
        name: 'w',
        reference: { apiGroup: 'example.com', kind: 'widget', matchLabels: { app: 'x' } },
        includeWhenEvaluating: true,
      },
      target('b', 'b', { delete: true }),
    ],
    conditions: ['w.items.size() > 0'],
  });
  const widgets = widgetsOf('example.com');

  scenario(
    '12. a kind that is not served is reported, and found when its CRD is created, without a restart',
    async (scene) => {
      begin(scene);
      await scene.given.object([configMap('b'), onWidget]);
      expect(await ready(scene)).toMatchObject({ status: 'False', reason: 'KindNotServed' });
      await scene.when.timePasses(seconds(20));
      await scene.when.user.apply(widgets);
      expect(await reasonOf(scene)).toBe('WaitingForConditions');
      await scene.when.user.apply(widgetOf(widgets, 'w', {}, { app: 'x' }));
      await scene.then.isGone('configmap/b');
    },
  );

  scenario('12. discovery that lags behind a CRD is retried soon, but not for ever', async (scene) => {
    begin(scene);
    await scene.given.object([configMap('b'), onWidget]);
    await scene.when.timePasses(seconds(20));
    // The CRD exists, but its kind is not served for some seconds.
    const hidden = {
      ...widgets,
      spec: {
        ...widgets.spec,
        versions: [
          { ...widgets.spec.versions[0]!, served: false },
          { ...widgets.spec.versions[0]!, name: 'v0', served: false, storage: false },
        ],
      },
    };
    await scene.when.user.apply(hidden);
    const looks = async () => (await scene.simulation()).reconciles.length;
    const before = await looks();
    await scene.when.timePasses(seconds(30));
    expect((await looks()) - before).toBeGreaterThanOrEqual(4);
    await scene.when.timePasses(minutes(10));
    const later = await looks();
    expect(later - before).toBeLessThan(14);
    await scene.when.user.apply(widgets);
    expect(await reasonOf(scene)).toBe('WaitingForConditions');
  });

  scenario('12. during a deletion, a kind that no longer exists has no objects', async (scene) => {
    begin(scene);
    await scene.given.object(widgets);
    await scene.given.object([configMap('b'), widgetOf(widgets, 'w')]);
    scene.when.justBefore('DELETE', () =>
      scene.when.user.delete('customresourcedefinition/widgets.example.com'),
    );
    await scene.when.user.apply(
      cleaner({
        ttl: '0s',
        targets: [
          { name: 'w', reference: { apiGroup: 'example.com', kind: 'widget', name: 'w' }, delete: true },
          target('b', 'b', { delete: true }),
        ],
      }),
    );
    await scene.then.isGone('configmap/b');
    await scene.then.isGone('cleaner/c');
  });

  scenario('14. objects of another namespace with the same name and labels are kept', async (scene) => {
    begin(scene);
    await scene.given.object([
      namespaceOf('elsewhere'),
      configMap('a', { app: 'x' }),
      configMap('a', { app: 'x' }, { namespace: 'elsewhere' }),
      cleaner({
        ttl: '0s',
        targets: [target('one', 'a', { delete: true }), target('many', { app: 'x' }, { delete: true })],
      }),
    ]);
    await scene.then.isGone('default/configmap/a');
    await scene.then.exists('elsewhere/configmap/a');
  });
});
