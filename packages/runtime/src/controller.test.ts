import { type Instant, millis, plus } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { settled } from './outcome.ts';
import { ConfigMap, configMap, configMapController, inWorld, Secret } from './world.testkit.ts';

describe('Controller: changes and reconciles', () => {
  test(
    'reconciles once for an existing, an added, a changed and a deleted object',
    inWorld({ controllers: [configMapController(() => settled())] }, async (w) => {
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
      expect(w.reconciles.map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
        'default/old: ConfigMap listed',
        'default/new: ConfigMap added',
        'default/new: ConfigMap changed',
        'default/new: ConfigMap deleted',
      ]);
    }),
  );

  test(
    'does not reconcile an update that changes no fact, but caches the new version',
    inWorld({ controllers: [configMapController(() => settled(), { facts: (o) => o.data })] }, async (w) => {
      w.manager.start();
      await w.user.create(ConfigMap, configMap('a', { x: '1' }));
      await w.settle();
      const key = { namespace: 'default', name: 'a' };
      await w.user.patch(ConfigMap, key, { type: 'merge', patch: { metadata: { labels: { a: 'b' } } } });
      await w.settle();
      expect(w.reconciles).toHaveLength(1);
      await w.user.patch(ConfigMap, key, { type: 'merge', patch: { data: { x: '2' } } });
      await w.settle();
      expect(w.reconciles).toHaveLength(2);
    }),
  );

  test(
    'reconciles the keys mapped from a watched object before and after its change',
    inWorld(
      {
        controllers: [
          configMapController(() => settled(), {
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
        expect(w.reconciles.map(({ key, reason }) => `${key}: ${reason}`)).toEqual([
          'default/a: Secret added',
          'default/a: Secret changed',
          'default/b: Secret changed',
        ]);
      },
    ),
  );

  test(
    'reconciles overdue objects of the initial list in the order of their deadlines',
    inWorld(
      {
        controllers: [
          configMapController(() => settled(), {
            concurrency: 1,
            firstDeadline: (o) => (o.data?.at === undefined ? undefined : (Number(o.data.at) as Instant)),
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
        expect(w.reconciles.map(({ key }) => key)).toEqual([
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
    'counts a mapper that throws and continues with everything else',
    inWorld(
      {
        controllers: [
          configMapController(() => settled(), {
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
        expect(w.reconciles).toHaveLength(1);
        expect(w.manager.registry.text()).toMatch(
          /lapse_handler_errors_total\{source="v1\/secrets in default"\} 1/,
        );
      },
    ),
  );
});
