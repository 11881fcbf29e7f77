import { describe, expect, test } from 'vitest';
import { settled } from './outcome.ts';
import { ConfigMap, configMap, configMapController, inWorld, Secret, type World } from './world.testkit.ts';

/** The cache receives no events from the first request with this method on. */
function holdEventsAt(w: World, method: string): void {
  w.interfere = (request) => {
    if (request.method === method) w.holdEvents();
    return undefined;
  };
}

describe('reconciles after own writes', () => {
  const increment = configMapController(
    async (ctx) => {
      const cached = ctx.cache.get(ConfigMap, ctx.key);
      if (cached === undefined || cached.data?.done === 'yes') return settled();
      await ctx.client.patch(ConfigMap, ctx.key, {
        type: 'merge',
        patch: { data: { done: 'yes', writes: String(Number(cached.data?.writes ?? 0) + 1) } },
      });
      return settled();
    },
    { facts: () => 'nothing that changes' },
  );

  const key = { namespace: 'default', name: 'a' };

  test(
    'do not repeat a write while the cache lags behind',
    inWorld({ controllers: [increment] }, async (w) => {
      await w.user.create(ConfigMap, configMap('a'));
      holdEventsAt(w, 'PATCH');
      w.manager.start();
      await w.settle();
      expect(w.writes()).toHaveLength(1);
      for (let i = 0; i < 5; i++) {
        w.manager.enqueueAll('test');
        await w.pass(100);
      }
      expect(w.reconciles).toHaveLength(1);
      w.releaseEvents();
      await w.settle();
      expect(w.reconciles.map((p) => p.reason)).toEqual(['ConfigMap listed', 'cache caught up']);
      expect((await w.user.get(ConfigMap, key))?.data).toEqual({ done: 'yes', writes: '1' });
      expect(w.manager.interner.size).toBe(w.manager.caches.busy + [...w.manager.caches.statuses()][0]!.size);
    }),
  );

  test(
    'wait ten seconds for a cache that does not catch up, then count it',
    inWorld({ controllers: [increment] }, async (w) => {
      await w.user.create(ConfigMap, configMap('a'));
      holdEventsAt(w, 'PATCH');
      w.manager.start();
      await w.settle();
      w.manager.enqueueAll('test');
      await w.pass(9999);
      expect(w.writes()).toHaveLength(1);
      await w.pass(1);
      expect(w.writes()).toHaveLength(2);
      expect(w.manager.registry.text()).toContain('lapse_cache_behind_total{controller="test"} 1');
      w.releaseEvents();
    }),
  );

  test(
    'wait for deletions like for any other write',
    inWorld(
      {
        controllers: [
          configMapController(async (ctx) => {
            const cached = ctx.cache.get(ConfigMap, ctx.key);
            if (cached !== undefined)
              await ctx.client.delete(ConfigMap, ctx.key, { ifUid: cached.metadata.uid! });
            return settled();
          }),
        ],
      },
      async (w) => {
        await w.user.create(ConfigMap, configMap('a'));
        holdEventsAt(w, 'DELETE');
        w.manager.start();
        await w.settle();
        w.manager.enqueueAll('test');
        await w.pass(1000);
        expect(w.writes()).toHaveLength(1);
        w.releaseEvents();
        await w.settle();
        expect(w.writes()).toHaveLength(1);
      },
    ),
  );

  test(
    'write nothing and wait for nothing in a dry run',
    inWorld({ controllers: [increment], dryRun: true }, async (w) => {
      await w.user.create(ConfigMap, configMap('a'));
      w.manager.start();
      await w.settle();
      w.manager.enqueueAll('test');
      await w.pass(1000);
      expect(w.writes()).toHaveLength(2);
      expect(w.writes().every((r) => r.includes('dryRun=All'))).toBe(true);
      expect((await w.user.get(ConfigMap, { namespace: 'default', name: 'a' }))?.data).toBeUndefined();
    }),
  );
});

describe('declared rights', () => {
  const touching = configMapController(
    async (ctx) => {
      await ctx.client.patch(ConfigMap, ctx.key, { type: 'merge', patch: {} });
      await ctx.client.get(Secret, ctx.key);
      return settled();
    },
    { rights: [{ group: '', resource: 'configmaps', verbs: ['patch'] }] },
  );

  test(
    'rejects a request outside the declared rights in tests and names the missing declaration',
    inWorld({ controllers: [touching], enforceRights: true }, async (w) => {
      w.manager.start();
      await w.user.create(ConfigMap, configMap('a'));
      await w.settle();
      expect(w.writes()).toHaveLength(1);
      const message = "controller test does not declare { group: '', resource: 'secrets', verbs: ['get'] }";
      expect(w.reconciles[0]!.outcome).toMatchObject({ kind: 'failed', cause: { message } });
    }),
  );
});
