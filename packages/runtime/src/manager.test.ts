import { instant, seconds } from '@lapse/base/instant';
import { defineKind } from '@lapse/kube/api/kind';
import { describe, expect, test } from 'vitest';
import { isIdle } from './activity.ts';
import type { Elector } from './manager.ts';
import { settled, waitUntil } from './outcome.ts';
import { ConfigMap, configMap, inWorld, namedController, Secret } from './world.testkit.ts';

function handElector() {
  let on: Parameters<Elector['start']>[0] | undefined;
  const log: string[] = [];
  const elector: Elector = {
    start: (callbacks) => {
      on = callbacks;
      log.push('campaign');
    },
    stop: async () => {
      log.push('released');
    },
  };
  return { elector, log, gain: () => on!.gained(), lose: () => on!.lost() };
}

describe('Manager: start', () => {
  const order = handElector();
  test(
    'syncs the caches, then acquires leadership, then starts the workers',
    inWorld({ controllers: [namedController('c', () => settled())], elector: order.elector }, async (w) => {
      await w.user.create(ConfigMap, configMap('a'));
      w.holdEvents();
      w.manager.start();
      await w.pass(1000);
      expect([w.manager.phase, order.log, w.manager.readiness()]).toEqual([
        'syncing',
        [],
        { ready: false, problems: ['v1/configmaps in default: not synced yet'] },
      ]);
      w.releaseEvents();
      await w.settle();
      expect([w.manager.phase, order.log, w.reconciles.length]).toEqual(['standby', ['campaign'], 0]);
      expect(w.manager.readiness()).toEqual({ ready: true, problems: [] });
      order.gain();
      await w.settle();
      expect([w.manager.phase, w.reconciles.length]).toEqual(['leading', 1]);
    }),
  );

  const Missing = defineKind({
    group: 'x.example',
    version: 'v1',
    kind: 'X',
    resource: 'xs',
    namespaced: true,
  });
  test(
    'delays only the controller of a kind that is not served, until the kind is served',
    inWorld(
      {
        listBy: 'pages',
        controllers: [
          namedController('good', () => settled()),
          namedController('late', () => settled(), {
            for: Secret,
            watches: [{ kind: Missing, to: () => [] }],
          }),
        ],
      },
      async (w) => {
        await w.user.create(ConfigMap, configMap('a'));
        await w.user.create(Secret, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 's', namespace: 'default' },
        });
        w.manager.start();
        await w.settle();
        expect(w.reconciles.map((p) => p.controller)).toEqual(['good']);
        expect(w.manager.readiness().problems.join()).toMatch(/x.example\/v1\/xs: list notServed/);
        w.interfere = ({ path }) =>
          path.startsWith('/apis/x.example/v1/xs') && !path.includes('watch')
            ? {
                status: 200,
                headers: { 'content-type': 'application/json' },
                body: Buffer.from(
                  '{"kind":"XList","apiVersion":"x.example/v1","metadata":{"resourceVersion":"7"},"items":[]}',
                ),
              }
            : undefined;
        await w.pass(120_000);
        expect(w.reconciles.map((p) => p.controller)).toEqual(['good', 'late']);
      },
    ),
  );

  test(
    'throws when the manager is started twice',
    inWorld({}, async (w) => {
      w.manager.start();
      expect(() => w.manager.start()).toThrow(/already started/);
    }),
  );
});

describe('Manager: leadership', () => {
  const lead = handElector();
  test(
    'reconciles nothing after leadership is lost, and everything after it is regained',
    inWorld({ controllers: [namedController('c', () => settled())], elector: lead.elector }, async (w) => {
      await w.user.create(ConfigMap, configMap('a'));
      w.manager.start();
      await w.settle();
      lead.gain();
      await w.settle();
      lead.lose();
      await w.user.create(ConfigMap, configMap('b'));
      await w.pass(60_000);
      expect([w.manager.phase, w.reconciles.length]).toEqual(['standby', 1]);
      expect(isIdle(w.manager.activity())).toBe(true);
      lead.gain();
      await w.settle();
      expect(
        w.reconciles
          .map((p) => p.key)
          .slice(1)
          .sort(),
      ).toEqual(['default/a', 'default/b']);
    }),
  );
});

describe('Manager: stop', () => {
  test(
    'leaves no timer armed, so that a deadline next year does not keep the process alive',
    inWorld(
      { controllers: [namedController('c', () => waitUntil(instant(9e12), 'ttl'))], bookmarks: false },
      async (w) => {
        w.manager.start();
        await w.user.create(ConfigMap, configMap('a'));
        await w.settle();
        expect(w.manager.timers.pending).toBe(1);
        await w.manager.stop();
        expect(w.manager.timers.pending).toBe(0);
      },
    ),
  );

  const kind = handElector();
  test(
    'finishes running reconciles, takes no new keys, then releases the lease and closes the watches',
    inWorld(
      {
        elector: kind.elector,
        controllers: [
          namedController(
            'c',
            async (ctx) => {
              await ctx.client.get(ConfigMap, ctx.key);
              return settled();
            },
            { concurrency: 1 },
          ),
        ],
      },
      async (w) => {
        for (const name of ['a', 'b', 'c']) await w.user.create(ConfigMap, configMap(name));
        w.manager.start();
        await w.settle();
        let asked = false;
        w.interfere = ({ path }) => {
          if (path.endsWith('configmaps/a') && !asked) {
            asked = true;
            stopping = w.manager.stop();
          }
          return undefined;
        };
        let stopping: Promise<boolean> | undefined;
        kind.gain();
        await w.settle();
        expect(await stopping).toBe(true);
        expect(w.reconciles.map((p) => p.key)).toEqual(['default/a']);
        expect(kind.log).toContain('released');
        expect([...w.manager.caches.statuses()]).toEqual([]);
        expect(w.clock.next()).toBeUndefined();
      },
    ),
  );

  test(
    'aborts a hanging reconcile within ten seconds',
    inWorld(
      {
        controllers: [
          namedController('c', async (ctx) => {
            await ctx.client.patch(
              ConfigMap,
              ctx.key,
              { type: 'merge', patch: {} },
              { timeout: seconds(3600) },
            );
            return settled();
          }),
        ],
      },
      async (w) => {
        await w.user.create(ConfigMap, configMap('a'));
        w.interfere = ({ method }) => (method === 'PATCH' ? 'hang' : undefined);
        w.manager.start();
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
        let drained: boolean | undefined;
        void w.manager.stop().then((result) => {
          drained = result;
        });
        const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
        await w.clock.advance(seconds(6.2), turn);
        expect(drained).toBeUndefined();
        await w.clock.advance(seconds(0.2), turn);
        await turn();
        expect(drained).toBe(false);
        expect(w.reconciles.at(-1)?.outcome).toMatchObject({ kind: 'failed', cause: { failure: 'aborted' } });
      },
    ),
  );

  test(
    'stops even if a reconcile ignores the abort signal',
    inWorld({ controllers: [namedController('c', () => new Promise(() => {}))] }, async (w) => {
      await w.user.create(ConfigMap, configMap('a'));
      w.manager.start();
      const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
      for (let i = 0; i < 20; i++) await turn();
      let over = false;
      void w.manager.stop().then(() => {
        over = true;
      });
      await w.clock.advance(seconds(10), turn);
      await turn();
      expect(over).toBe(true);
    }),
  );
});
