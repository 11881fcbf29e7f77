import { instant } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { Elector } from './manager.ts';
import { settled, waitUntil } from './outcome.ts';
import { ConfigMap, configMap, configMapController, inWorld, Secret, type World } from './world.testkit.ts';

function handElector() {
  let on: Parameters<Elector['start']>[0] | undefined;
  const elector: Elector = {
    start: (callbacks) => {
      on = callbacks;
    },
    stop: async () => {},
  };
  return { elector, gain: () => on!.gained(), lose: () => on!.lost() };
}

const secret = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default' },
});

async function comeAndGo<T extends KubeObject>(w: World, kind: Kind<T>, object: (name: string) => T) {
  const names = Array.from({ length: 300 }, (_, i) => `passing-${i}`);
  for (const name of names) await w.user.create(kind, object(name));
  await w.settle();
  for (const name of names) await w.user.delete(kind, { namespace: 'default', name });
  await w.settle();
}

describe('a replica that lost the lease', () => {
  const waiting = handElector();
  test(
    'keeps no key of an object that is deleted afterwards',
    inWorld(
      { controllers: [configMapController(() => waitUntil(instant(9e12), 'ttl'))], elector: waiting.elector },
      async (w) => {
        await w.user.create(ConfigMap, configMap('stays'));
        await w.user.create(ConfigMap, configMap('leaves'));
        w.manager.start();
        await w.settle();
        waiting.gain();
        await w.settle();
        waiting.lose();
        await w.settle();
        await w.user.delete(ConfigMap, { namespace: 'default', name: 'leaves' });
        await comeAndGo(w, ConfigMap, configMap);
        const { queue } = w.manager.controllers[0]!;
        expect([w.manager.interner.size, queue.ready + queue.waiting]).toEqual([1, 1]);
      },
    ),
  );

  const cutOff = handElector();
  const hanging = Promise.withResolvers<void>();
  test(
    'keeps no key of an object that is deleted while its last reconcile ends',
    inWorld(
      {
        elector: cutOff.elector,
        controllers: [
          configMapController(async () => {
            await hanging.promise;
            return waitUntil(instant(9e12), 'ttl');
          }),
        ],
      },
      async (w) => {
        await w.user.create(ConfigMap, configMap('a'));
        w.manager.start();
        await w.settle();
        cutOff.gain();
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
        cutOff.lose();
        await w.user.delete(ConfigMap, { namespace: 'default', name: 'a' });
        for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
        hanging.resolve();
        await w.settle();
        expect(w.manager.interner.size).toBe(0);
      },
    ),
  );

  const dynamic = handElector();
  const following = configMapController(
    (ctx) => {
      if (ctx.cache.get(ConfigMap, ctx.key) !== undefined)
        ctx.dynamic.declare([{ kind: Secret, namespace: 'default' }]);
      return settled();
    },
    { dynamic: { to: ({ metadata }) => [{ namespace: 'of-secrets', name: metadata.name! }] } },
  );
  test(
    'keeps no dynamic watch, and starts it again when it leads again',
    inWorld({ controllers: [following], elector: dynamic.elector }, async (w) => {
      const sources = () => [...w.manager.caches.statuses()].map(({ source }) => source);
      await w.user.create(ConfigMap, configMap('a'));
      w.manager.start();
      await w.settle();
      dynamic.gain();
      await w.settle();
      expect(sources()).toEqual(['v1/configmaps in default', 'v1/secrets in default']);
      dynamic.lose();
      await w.settle();
      await comeAndGo(w, Secret, secret);
      expect([sources(), w.manager.interner.size]).toEqual([['v1/configmaps in default'], 1]);
      await w.user.create(Secret, secret('late'));
      dynamic.gain();
      await w.settle();
      expect(sources()).toEqual(['v1/configmaps in default', 'v1/secrets in default']);
      expect(w.reconciles.map(({ key }) => key)).toContain('of-secrets/late');
    }),
  );

  const ordered = handElector();
  const deadlines = configMapController(() => settled(), {
    firstDeadline: ({ data }) => instant(Number(data?.deadline)),
  });
  test(
    'reconciles overdue objects in the order of their deadlines when it leads again',
    inWorld({ controllers: [deadlines], elector: ordered.elector }, async (w) => {
      for (const [name, deadline] of [
        ['a', 3000],
        ['b', 1000],
        ['c', 2000],
      ] as const)
        await w.user.create(ConfigMap, configMap(name, { deadline: String(deadline) }));
      w.manager.start();
      await w.settle();
      ordered.gain();
      await w.settle();
      ordered.lose();
      await w.settle();
      w.reconciles.length = 0;
      ordered.gain();
      await w.pass(1);
      expect(w.reconciles.map(({ key }) => key)).toEqual(['default/b', 'default/c', 'default/a']);
    }),
  );
});
