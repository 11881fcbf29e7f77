import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { plus, seconds } from '@lapse/base/instant';
import { nextTurn } from '@lapse/base/turn';
import { describe, expect, test } from 'vitest';
import type { Caches } from './caches.ts';
import { DynamicWatches } from './dynamic.ts';
import { Interner } from './interner.ts';
import { settled, waitUntil } from './outcome.ts';
import { ConfigMap, configMap, configMapController, inWorld, Secret } from './world.testkit.ts';

describe('dynamic sources', () => {
  const following = configMapController(
    (ctx) => {
      const cached = ctx.cache.get(ConfigMap, ctx.key);
      // A removed object need not declare anything: the runtime releases its sources.
      if (cached === undefined) return settled();
      const wants =
        cached.data?.follow === undefined ? [] : [{ kind: Secret, namespace: cached.data.follow }];
      const [view] = ctx.dynamic.declare(wants);
      if (view === undefined) return settled();
      if (!view.status.synced) return waitUntil(plus(ctx.now, seconds(3600)), 'not synced');
      seen.push(`${ctx.key.name} sees ${view.reader.size}`);
      return settled();
    },
    {
      dynamic: {
        to: (_secret, _source, cache) =>
          [...cache.list(ConfigMap)].map(({ metadata }) => ({ namespace: 'default', name: metadata.name! })),
      },
    },
  );
  const seen: string[] = [];

  test(
    'start when declared, enqueue the key when synced or changed, and stop when no key needs them',
    inWorld({ controllers: [following] }, async (w) => {
      seen.length = 0;
      const secret = (name: string) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'default' },
      });
      const sources = () => [...w.manager.caches.statuses()].map(({ source }) => source);
      await w.user.create(Secret, secret('s1'));
      w.manager.start();
      await w.settle();
      expect(sources()).toEqual(['v1/configmaps in default']);
      await w.user.create(ConfigMap, configMap('a', { follow: 'default' }));
      await w.settle();
      expect(sources()).toEqual(['v1/configmaps in default', 'v1/secrets in default']);
      expect(seen.at(-1)).toBe('a sees 1');
      await w.user.create(Secret, secret('s2'));
      await w.settle();
      expect(seen.at(-1)).toBe('a sees 2');
      await w.user.create(ConfigMap, configMap('b', { follow: 'default' }));
      await w.settle();
      expect(sources()).toHaveLength(2);
      await w.user.delete(ConfigMap, { namespace: 'default', name: 'a' });
      await w.settle();
      expect(sources()).toHaveLength(2);
      await w.user.patch(
        ConfigMap,
        { namespace: 'default', name: 'b' },
        { type: 'merge', patch: { data: { follow: null } } },
      );
      await w.settle();
      expect(sources()).toEqual(['v1/configmaps in default']);
    }),
  );
});

test('releases the projection of each policy generation when no key needs it', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const handle = { reader: {}, status: {}, listen: () => {}, onStatus: () => {}, release: () => {} };
  const interner = new Interner();
  const watches = new DynamicWatches({
    caches: { acquire: () => handle } as unknown as Caches,
    interner,
    onChange: () => {},
    onStatus: () => {},
  });
  const user = interner.intern('default/a');
  const declare = () => {
    const projection = { name: 'x', project: <T>(object: T) => object };
    watches.declare(user, [{ kind: Secret, projection }]);
    return new WeakRef(projection);
  };
  const generations = Array.from({ length: 10 }, declare);
  await nextTurn();
  collect();
  expect(generations.filter((one) => one.deref() !== undefined).length).toBeLessThanOrEqual(1);
  expect(watches.size).toBe(1);
});
