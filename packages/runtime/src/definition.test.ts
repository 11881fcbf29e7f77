import { describe, expect, test } from 'vitest';
import { type ControllerDefinition, defineController, rightsOf } from './definition.ts';
import { settled } from './outcome.ts';
import type { Projection } from './source.ts';
import { ConfigMap, configMapController, inWorld, Secret } from './world.testkit.ts';

describe('defineController', () => {
  const reconcile = () => settled();
  test.each<[string, Partial<ControllerDefinition>, RegExp]>([
    ['a name that cannot be a metric label', { name: 'My Controller' }, /lower-case/],
    ['a concurrency of zero', { concurrency: 0 }, /above zero/],
    ['a fractional concurrency', { concurrency: 1.5 }, /above zero/],
    [
      'watching the same kind twice',
      { watches: [{ kind: ConfigMap, to: () => [] }] },
      /\/v1\/configmaps is watched twice/,
    ],
  ])('rejects %s', (_what, invalid, message) => {
    expect(() =>
      defineController({ name: 'ok', for: ConfigMap, reconcile, ...invalid } as ControllerDefinition),
    ).toThrow(message);
  });

  test('derives rights from the declared rights plus list and watch of all sources', () => {
    const definition = configMapController(reconcile, {
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
    'includes the name of the projection in the name of the source',
    inWorld(
      {
        controllers: [
          configMapController(reconcile, {
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
