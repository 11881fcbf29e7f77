import { type Instant, millis } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { settled, waitUntil } from './outcome.ts';
import { ConfigMap, configMap, inWorld, namedController, refuse } from './world.testkit.ts';

describe('Manager: status and metrics', () => {
  test(
    'exports the controller-runtime and client-go metrics from the start, at zero',
    inWorld(
      { controllers: [namedController('c', () => settled(), { queue: 'ttl_jobs_to_delete' })] },
      async (w) => {
        w.manager.start();
        const text = w.manager.registry.text();
        for (const line of [
          'controller_runtime_reconcile_total{controller="c",result="success"} 0',
          'controller_runtime_reconcile_total{controller="c",result="error"} 0',
          'controller_runtime_reconcile_total{controller="c",result="requeue"} 0',
          'controller_runtime_reconcile_total{controller="c",result="requeue_after"} 0',
          'controller_runtime_active_workers{controller="c"} 0',
          'controller_runtime_max_concurrent_reconciles{controller="c"} 4',
          'controller_runtime_reconcile_time_seconds_count{controller="c"} 0',
          'workqueue_depth{name="ttl_jobs_to_delete"} 0',
          'workqueue_adds_total{name="ttl_jobs_to_delete"} 0',
          'workqueue_retries_total{name="ttl_jobs_to_delete"} 0',
          'workqueue_queue_duration_seconds_count{name="ttl_jobs_to_delete"} 0',
          'workqueue_work_duration_seconds_count{name="ttl_jobs_to_delete"} 0',
          'workqueue_unfinished_work_seconds{name="ttl_jobs_to_delete"} 0',
          'workqueue_longest_running_processor_seconds{name="ttl_jobs_to_delete"} 0',
          'lapse_timers_pending 0',
        ])
          expect(text.split('\n')).toContain(line);
      },
    ),
  );

  test(
    'updates the metrics with each reconcile',
    inWorld({ controllers: [namedController('c', () => settled())] }, async (w) => {
      w.manager.start();
      await w.user.create(ConfigMap, configMap('a'));
      await w.settle();
      const text = w.manager.registry.text();
      expect(text).toContain('controller_runtime_reconcile_total{controller="c",result="success"} 1');
      expect(text).toContain('workqueue_adds_total{name="c"} 1');
      expect(text).toContain('lapse_cache_objects{source="v1/configmaps in default"} 1');
      expect(text).toContain('lapse_cache_synced{source="v1/configmaps in default"} 1');
    }),
  );

  test(
    'counts the work in progress to detect idleness',
    inWorld(
      {
        controllers: [
          namedController('c', async (ctx) => {
            await ctx.client.get(ConfigMap, ctx.key);
            return settled();
          }),
        ],
      },
      async (w) => {
        await w.user.create(ConfigMap, configMap('a'));
        w.manager.start();
        const seen = new Set<string>();
        for (let i = 0; i < 200; i++) {
          for (const [name, count] of Object.entries(w.manager.activity())) if (count > 0) seen.add(name);
          await Promise.resolve();
        }
        await w.settle();
        expect([...seen].sort()).toEqual(['ready', 'reconciles', 'requests']);
        expect(w.manager.activity()).toEqual({ reconciles: 0, ready: 0, caches: 0, requests: 0, events: 0 });
      },
    ),
  );

  test(
    'reports a refused watch as a problem and retries it with backoff',
    inWorld({ controllers: [namedController('c', () => settled())], listBy: 'pages' }, async (w) => {
      w.interfere = ({ path }) => (path.includes('watch') ? refuse(403, 'Forbidden', 'no') : undefined);
      w.manager.start();
      await w.pass(10 * 60_000);
      expect(w.manager.readiness()).toEqual({
        ready: true,
        problems: ['v1/configmaps in default: watch forbidden: no'],
      });
      expect(w.requests.length).toBeLessThan(30);
      expect(w.manager.registry.text()).toContain('lapse_cache_problem{source="v1/configmaps in default"} 1');
    }),
  );
});

test(
  'sends only a few requests and runs no reconcile in an idle hour',
  inWorld({ controllers: [namedController('c', () => settled())] }, async (w) => {
    for (let i = 0; i < 50; i++) await w.user.create(ConfigMap, configMap(`a${i}`));
    w.manager.start();
    await w.settle();
    const before = w.requests.length;
    await w.pass(3_600_000);
    // The only wake-ups are the server-side timeouts of watches.
    expect(w.requests.length - before).toBeLessThanOrEqual(3);
    expect(w.reconciles).toHaveLength(50);
  }),
);

test(
  'wakes up only for the waiting objects in a simulated month',
  inWorld(
    {
      listBy: 'pages',
      bookmarks: false,
      controllers: [
        namedController('c', (ctx) => {
          const at = Number(ctx.cache.get(ConfigMap, ctx.key)?.data?.at ?? 0) as Instant;
          return ctx.now >= at ? settled() : waitUntil(at, 'test');
        }),
      ],
    },
    async (w) => {
      const DAY = 86_400_000;
      for (let i = 0; i < 200; i++)
        await w.user.create(
          ConfigMap,
          configMap(`a${i}`, { at: String(w.clock.now() + (i * 30 * DAY) / 200) }),
        );
      w.manager.start();
      await w.settle();
      let instants = 0;
      await w.clock.advance(millis(30 * DAY), async () => {
        instants++;
        await w.settle();
      });
      expect(w.reconciles).toHaveLength(200 + 199);
      expect(
        w.reconciles.every(({ now }, i) => i < 200 || w.since(now) === ((i - 199) * 30 * DAY) / 200),
      ).toBe(true);
      // The only other wake-ups are the ends of watches, at most every half hour.
      expect(instants).toBeLessThan(200 + 30 * 24 * 2);
    },
  ),
);
