import { type Instant, plus, seconds } from '@lapse/base/instant';
import { ApiError } from '@lapse/kube/api/status';
import { describe, expect, test } from 'vitest';
import type { ControllerDefinition } from './definition.ts';
import type { EventNote, RegardingObject } from './events/types.ts';
import { again, settled, terminal, waitUntil } from './outcome.ts';
import type { ReconcileContext } from './reconcileContext.ts';
import { ConfigMap, configMap, configMapController, inWorld, Secret } from './world.testkit.ts';

const dataOf = (ctx: ReconcileContext) => ctx.cache.get(ConfigMap, ctx.key)?.data;

describe('reconciles', () => {
  test(
    'use one fixed now and meet deadlines to the millisecond',
    inWorld(
      {
        controllers: [
          configMapController((ctx) => {
            const at = Number(dataOf(ctx)?.at ?? 0) as Instant;
            return ctx.now >= at ? settled() : waitUntil(at, 'test');
          }),
        ],
      },
      async (w) => {
        w.manager.start();
        await w.user.create(ConfigMap, configMap('a', { at: String(plus(w.clock.now(), seconds(90))) }));
        await w.pass(3_600_000);
        expect(w.timeline()).toEqual(['+0 default/a waitUntil', '+90000 default/a settled']);
        expect(w.reconciles[1]!.reason).toBe('deadline: test');
      },
    ),
  );

  test(
    'of other keys are not affected by an exception',
    inWorld(
      {
        controllers: [
          configMapController((ctx) => {
            if (ctx.key.name === 'bad') throw new Error('boom');
            return settled();
          }),
        ],
      },
      async (w) => {
        w.manager.start();
        await w.user.create(ConfigMap, configMap('bad'));
        for (let i = 0; i < 20; i++) await w.user.create(ConfigMap, configMap(`good-${i}`));
        await w.settle();
        expect(w.reconciles.filter((p) => p.outcome.kind === 'settled')).toHaveLength(20);
        await w.pass(60_000);
        const tries = w.reconciles.filter((p) => p.key === 'default/bad').length;
        expect(tries).toBeGreaterThan(10);
        expect(tries).toBeLessThan(20);
      },
    ),
  );

  test(
    'never run concurrently for one key, and never exceed the configured concurrency',
    inWorld(
      {
        controllers: [
          configMapController(
            async (ctx) => {
              const key = ctx.key.name;
              const log = running as { keys: string[]; most: number };
              expect(log.keys).not.toContain(key);
              log.keys.push(key);
              log.most = Math.max(log.most, log.keys.length);
              await ctx.client.get(ConfigMap, ctx.key);
              log.keys.splice(log.keys.indexOf(key), 1);
              return settled();
            },
            { concurrency: 3 },
          ),
        ],
      },
      async (w) => {
        running.keys = [];
        running.most = 0;
        for (let i = 0; i < 10; i++) await w.user.create(ConfigMap, configMap(`a${i}`));
        w.manager.start();
        for (let i = 0; i < 10; i++)
          await w.user.patch(
            ConfigMap,
            { namespace: 'default', name: `a${i}` },
            { type: 'merge', patch: { data: { x: '1' } } },
          );
        await w.settle();
        expect(running.most).toBe(3);
        expect(running.keys).toEqual([]);
        expect(w.reconciles.every((p) => p.outcome.kind === 'settled')).toBe(true);
      },
    ),
  );

  test(
    'fail with a clear error when they read a kind that is not watched',
    inWorld(
      {
        controllers: [configMapController((ctx) => (ctx.cache.get(Secret, ctx.key) ? settled() : settled()))],
      },
      async (w) => {
        w.manager.start();
        await w.user.create(ConfigMap, configMap('a'));
        await w.settle();
        expect(w.reconciles[0]!.outcome).toMatchObject({
          kind: 'failed',
          cause: { message: 'controller test does not watch v1 Secret' },
        });
      },
    ),
  );

  test(
    'that return again are neither counted as errors nor retried in a hot loop',
    inWorld(
      { controllers: [configMapController((ctx) => (ctx.losses < 3 ? again('test') : settled()))] },
      async (w) => {
        w.manager.start();
        await w.user.create(ConfigMap, configMap('a'));
        await w.settle();
        expect(w.reconciles).toHaveLength(1);
        await w.pass(10_000);
        expect(w.reconciles.map((p) => p.outcome.kind)).toEqual(['again', 'again', 'again', 'settled']);
      },
    ),
  );
});

const running = { keys: [] as string[], most: 0 };

describe('Events about failures', () => {
  const events: [string, EventNote][] = [];
  const outbox = {
    sink: {
      record: (regarding: RegardingObject, note: EventNote) => events.push([regarding.metadata.name!, note]),
    },
    pending: 0,
    close: async () => {},
  };
  const expectEvents = (reconcile: ControllerDefinition['reconcile'], check: () => void) =>
    inWorld(
      { controllers: [configMapController(reconcile, { stuckAfter: 4 })], events: outbox },
      async (w) => {
        events.length = 0;
        w.manager.start();
        await w.user.create(ConfigMap, configMap('a'));
        await w.pass(10 * 60_000);
        check();
        expect(w.requests.length).toBeLessThan(40);
      },
    );

  test(
    'report a stuck object once per streak of failures, while retries continue',
    expectEvents(
      () => {
        throw new Error('boom');
      },
      () => {
        expect(events).toEqual([
          [
            'a',
            {
              type: 'Warning',
              action: 'Reconcile',
              reason: 'ReconcileFailing',
              note: 'failed 4 times in a row, still trying: boom',
            },
          ],
        ]);
      },
    ),
  );

  test(
    'report a 403 at once',
    expectEvents(
      () => {
        throw new ApiError(403, 'Forbidden', 'configmaps is forbidden');
      },
      () => {
        expect(events[0]).toEqual([
          'a',
          { type: 'Warning', action: 'Reconcile', reason: 'Forbidden', note: 'configmaps is forbidden' },
        ]);
      },
    ),
  );

  test(
    'report a terminal outcome with its reason',
    expectEvents(
      () => terminal('InvalidTTL', 'ttl is not a duration'),
      () => {
        expect(events.map(([, { reason }]) => reason)).toEqual(['InvalidTTL']);
      },
    ),
  );
});
