import { describe, expect, test } from 'vitest';
import { ApiError } from '#api/status';
import { type Instant, millis, plus, seconds } from '#base/instant';
import { type ControllerDefinition, defineController, rightsOf } from './definition.ts';
import type { EventNote, Regarded } from './events/types.ts';
import { again, settled, terminal, waitUntil } from './outcome.ts';
import type { Pass } from './pass.ts';
import type { Projection } from './source.ts';
import { ConfigMap, configMap, inWorld, Secret } from './world.testkit.ts';

/** A controller over ConfigMaps that does what the test says. */
const over = (
  reconcile: ControllerDefinition['reconcile'],
  more: Partial<ControllerDefinition<ConfigMap>> = {},
): ControllerDefinition =>
  defineController<ConfigMap>({
    name: 'test',
    for: ConfigMap,
    namespace: 'default',
    reconcile,
    ...more,
  }) as ControllerDefinition;

const dataOf = (pass: Pass) => pass.cache.get(ConfigMap, pass.key)?.data;

describe('which changes lead to which passes', () => {
  test(
    'an object that exists, one that comes, changes and goes: one pass each',
    inWorld({ controllers: [over(() => settled())] }, async (w) => {
      await w.user.create(ConfigMap, configMap('old'));
      w.manager.start();
      await w.settle();
      await w.user.create(ConfigMap, configMap('new'));
      await w.settle();
      await w.user.patch(
        ConfigMap,
        { namespace: 'default', name: 'new' },
        { type: 'merge', patch: { data: { a: '1' } } },
      );
      await w.settle();
      await w.user.delete(ConfigMap, { namespace: 'default', name: 'new' });
      await w.settle();
      expect(w.passes.map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
        'default/old: ConfigMap listed',
        'default/new: ConfigMap added',
        'default/new: ConfigMap changed',
        'default/new: ConfigMap deleted',
      ]);
    }),
  );

  test(
    'an update that changes no fact wakes nobody; the cache has the new version all the same',
    inWorld({ controllers: [over(() => settled(), { facts: (o) => o.data })] }, async (w) => {
      w.manager.start();
      await w.user.create(ConfigMap, configMap('a', { x: '1' }));
      await w.settle();
      const key = { namespace: 'default', name: 'a' };
      await w.user.patch(ConfigMap, key, { type: 'merge', patch: { metadata: { labels: { a: 'b' } } } });
      await w.settle();
      expect(w.passes).toHaveLength(1);
      await w.user.patch(ConfigMap, key, { type: 'merge', patch: { data: { x: '2' } } });
      await w.settle();
      expect(w.passes).toHaveLength(2);
    }),
  );

  test(
    'a change of another kind wakes the keys it concerned before and the ones it concerns now',
    inWorld(
      {
        controllers: [
          over(() => settled(), {
            watches: [
              {
                kind: Secret,
                namespace: 'default',
                facts: (secret) => secret.metadata.labels,
                to: (secret) => [{ namespace: 'default', name: secret.metadata.labels?.for ?? 'nobody' }],
              },
            ],
          }),
        ],
      },
      async (w) => {
        w.manager.start();
        await w.settle();
        const secret = (owner: string) => ({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 's', namespace: 'default', labels: { for: owner } },
        });
        await w.user.create(Secret, secret('a'));
        await w.settle();
        await w.user.update(Secret, secret('b'));
        await w.settle();
        expect(w.passes.map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
          'default/a: Secret added',
          'default/a: Secret changed',
          'default/b: Secret changed',
        ]);
      },
    ),
  );

  test(
    'overdue objects of the initial list come in the order of their deadlines',
    inWorld(
      {
        controllers: [
          over(() => settled(), {
            concurrency: 1,
            firstLook: (o) => (o.data?.at === undefined ? undefined : (Number(o.data.at) as Instant)),
          }),
        ],
      },
      async (w) => {
        const ago = (length: number) => ({ at: String(plus(w.clock.now(), millis(-length))) });
        await w.user.create(ConfigMap, configMap('c-young', ago(1000)));
        await w.user.create(ConfigMap, configMap('b-oldest', ago(9000)));
        await w.user.create(ConfigMap, configMap('a-old', ago(5000)));
        await w.user.create(ConfigMap, configMap('d-later', ago(-2000)));
        w.manager.start();
        await w.pass(10);
        expect(w.passes.map(({ key }) => key)).toEqual([
          'default/b-oldest',
          'default/a-old',
          'default/c-young',
        ]);
        await w.pass(2000);
        expect(w.timeline().at(-1)).toBe('+2000 default/d-later settled');
      },
    ),
  );

  test(
    'a mapper that throws is counted, and everything else goes on',
    inWorld(
      {
        controllers: [
          over(() => settled(), {
            watches: [
              {
                kind: Secret,
                namespace: 'default',
                to: () => {
                  throw new Error('bug');
                },
              },
            ],
          }),
        ],
      },
      async (w) => {
        w.manager.start();
        await w.user.create(Secret, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 's', namespace: 'default' },
        });
        await w.user.create(ConfigMap, configMap('a'));
        await w.settle();
        expect(w.passes).toHaveLength(1);
        expect(w.manager.registry.text()).toMatch(
          /lapse_handler_errors_total\{source="v1\/secrets in default"\} 1/,
        );
      },
    ),
  );
});

describe('passes', () => {
  test(
    'one now per pass, deadlines to the millisecond',
    inWorld(
      {
        controllers: [
          over((pass) => {
            const at = Number(dataOf(pass)?.at ?? 0) as Instant;
            return pass.now >= at ? settled() : waitUntil(at, 'test');
          }),
        ],
      },
      async (w) => {
        w.manager.start();
        await w.user.create(ConfigMap, configMap('a', { at: String(plus(w.clock.now(), seconds(90))) }));
        await w.pass(3_600_000);
        expect(w.timeline()).toEqual(['+0 default/a waitUntil', '+90000 default/a settled']);
        expect(w.passes[1]!.reason).toBe('deadline: test');
      },
    ),
  );

  test(
    'an exception in one key never affects another',
    inWorld(
      {
        controllers: [
          over((pass) => {
            if (pass.key.name === 'bad') throw new Error('boom');
            return settled();
          }),
        ],
      },
      async (w) => {
        w.manager.start();
        await w.user.create(ConfigMap, configMap('bad'));
        for (let i = 0; i < 20; i++) await w.user.create(ConfigMap, configMap(`good-${i}`));
        await w.settle();
        expect(w.passes.filter((p) => p.outcome.kind === 'settled')).toHaveLength(20);
        await w.pass(60_000);
        const tries = w.passes.filter((p) => p.key === 'default/bad').length;
        expect(tries).toBeGreaterThan(10);
        expect(tries).toBeLessThan(20);
      },
    ),
  );

  test(
    'never two passes of one key at once, and never more passes than allowed',
    inWorld(
      {
        controllers: [
          over(
            async (pass) => {
              const key = pass.key.name;
              const log = running as { keys: string[]; most: number };
              expect(log.keys).not.toContain(key);
              log.keys.push(key);
              log.most = Math.max(log.most, log.keys.length);
              await pass.client.get(ConfigMap, pass.key);
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
        expect(w.passes.every((p) => p.outcome.kind === 'settled')).toBe(true);
      },
    ),
  );

  test(
    'reading a kind that is not wired says so',
    inWorld(
      { controllers: [over((pass) => (pass.cache.get(Secret, pass.key) ? settled() : settled()))] },
      async (w) => {
        w.manager.start();
        await w.user.create(ConfigMap, configMap('a'));
        await w.settle();
        expect(w.passes[0]!.outcome).toMatchObject({
          kind: 'failed',
          cause: { message: 'controller test does not watch v1 Secret' },
        });
      },
    ),
  );

  test(
    'again is neither an error nor a loop',
    inWorld({ controllers: [over((pass) => (pass.losses < 3 ? again('test') : settled()))] }, async (w) => {
      w.manager.start();
      await w.user.create(ConfigMap, configMap('a'));
      await w.settle();
      expect(w.passes).toHaveLength(1);
      await w.pass(10_000);
      expect(w.passes.map((p) => p.outcome.kind)).toEqual(['again', 'again', 'again', 'settled']);
    }),
  );
});

const running = { keys: [] as string[], most: 0 };

describe('own writes', () => {
  const increment = over(
    async (pass) => {
      const cached = pass.cache.get(ConfigMap, pass.key);
      if (cached === undefined || cached.data?.done === 'yes') return settled();
      await pass.client.patch(ConfigMap, pass.key, {
        type: 'merge',
        patch: { data: { done: 'yes', writes: String(Number(cached.data?.writes ?? 0) + 1) } },
      });
      return settled();
    },
    { facts: () => 'nothing that changes' },
  );

  const key = { namespace: 'default', name: 'a' };

  test(
    'a cache that lags behind does not lead to a second write',
    inWorld({ controllers: [increment] }, async (w) => {
      await w.user.create(ConfigMap, configMap('a'));
      w.interfere = (request) => {
        if (request.method === 'PATCH') w.holdEvents();
        return undefined;
      };
      w.manager.start();
      await w.settle();
      expect(w.writes()).toHaveLength(1);
      for (let i = 0; i < 5; i++) {
        w.manager.enqueueAll('test');
        await w.pass(100);
      }
      expect(w.passes).toHaveLength(1);
      w.releaseEvents();
      await w.settle();
      expect(w.passes.map((p) => p.reason)).toEqual(['ConfigMap listed', 'cache caught up']);
      expect((await w.user.get(ConfigMap, key))?.data).toEqual({ done: 'yes', writes: '1' });
      expect(w.manager.interner.size).toBe(w.manager.caches.busy + [...w.manager.caches.statuses()][0]!.size);
    }),
  );

  test(
    'a cache that does not catch up is waited for ten seconds, and then counted',
    inWorld({ controllers: [increment] }, async (w) => {
      await w.user.create(ConfigMap, configMap('a'));
      w.interfere = (request) => {
        if (request.method === 'PATCH') w.holdEvents();
        return undefined;
      };
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
    'a deletion is remembered like any other write',
    inWorld(
      {
        controllers: [
          over(async (pass) => {
            const cached = pass.cache.get(ConfigMap, pass.key);
            if (cached !== undefined)
              await pass.client.delete(ConfigMap, pass.key, { ifUid: cached.metadata.uid! });
            return settled();
          }),
        ],
      },
      async (w) => {
        await w.user.create(ConfigMap, configMap('a'));
        w.interfere = (request) => {
          if (request.method === 'DELETE') w.holdEvents();
          return undefined;
        };
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
    'a dry run writes nothing, and waits for nothing',
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

describe('what people are told', () => {
  const events: [string, EventNote][] = [];
  const outbox = {
    sink: { record: (regarding: Regarded, note: EventNote) => events.push([regarding.metadata.name!, note]) },
    pending: 0,
    close: async () => {},
  };
  const tell = (reconcile: ControllerDefinition['reconcile'], check: () => void) =>
    inWorld({ controllers: [over(reconcile, { stuckAfter: 4 })], events: outbox }, async (w) => {
      events.length = 0;
      w.manager.start();
      await w.user.create(ConfigMap, configMap('a'));
      await w.pass(10 * 60_000);
      check();
      expect(w.requests.length).toBeLessThan(40);
    });

  test(
    'a stuck key is reported on the object, once per streak, and never forgotten',
    tell(
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
    'forbidden is reported at once',
    tell(
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
    'terminal outcomes are reported with their reason',
    tell(
      () => terminal('InvalidTTL', 'ttl is not a duration'),
      () => {
        expect(events.map(([, { reason }]) => reason)).toEqual(['InvalidTTL']);
      },
    ),
  );
});

describe('sources that come and go', () => {
  const following = over(
    (pass) => {
      const cached = pass.cache.get(ConfigMap, pass.key);
      // Of an object that is gone nothing need be said: what it needed is given back without a word.
      if (cached === undefined) return settled();
      const wants =
        cached.data?.follow === undefined ? [] : [{ kind: Secret, namespace: cached.data.follow }];
      const [view] = pass.dynamic.declare(wants);
      if (view === undefined) return settled();
      if (!view.status.synced) return waitUntil(plus(pass.now, seconds(3600)), 'not synced');
      seen.push(`${pass.key.name} sees ${view.reader.size}`);
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
    'declared they start, wake the key when synced and when they change, and end when nobody needs them',
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

describe('defineController', () => {
  const reconcile = () => settled();
  test.each<[string, Partial<ControllerDefinition>, RegExp]>([
    ['a name that cannot be a metric label', { name: 'My Controller' }, /lower-case/],
    ['no hands', { concurrency: 0 }, /above zero/],
    ['half a hand', { concurrency: 1.5 }, /above zero/],
    [
      'the same kind twice',
      { watches: [{ kind: ConfigMap, to: () => [] }] },
      /\/v1\/configmaps is watched twice/,
    ],
  ])('%s is refused', (_what, wrong, message) => {
    expect(() =>
      defineController({ name: 'ok', for: ConfigMap, reconcile, ...wrong } as ControllerDefinition),
    ).toThrow(message);
  });

  test('rights: what is declared, and list and watch of what is watched', () => {
    const definition = over(reconcile, {
      watches: [{ kind: Secret, to: () => [] }],
      rights: [
        { group: '', resource: 'configmaps', verbs: ['patch', 'list'] },
        { group: '', resource: 'configmaps/status', verbs: ['patch'] },
      ],
    });
    expect(rightsOf(definition)).toEqual([
      { group: '', resource: 'configmaps', verbs: ['list', 'patch', 'watch'] },
      { group: '', resource: 'configmaps/status', verbs: ['patch'] },
      { group: '', resource: 'secrets', verbs: ['list', 'watch'] },
    ]);
  });

  test(
    'a projection names its source',
    inWorld(
      {
        controllers: [
          over(reconcile, {
            projection: { name: 'tiny', project: (o) => o } satisfies Projection<ConfigMap>,
          }),
        ],
      },
      async (w) => {
        w.manager.start();
        await w.settle();
        expect([...w.manager.caches.statuses()].map(({ source }) => source)).toEqual([
          'v1/configmaps in default as tiny',
        ]);
      },
    ),
  );
});
