import { describe, expect, test } from 'vitest';
import { type ControllerDefinition, defineController, rightsOf } from './definition.ts';
import { settled } from './outcome.ts';
import type { Projection } from './source.ts';
import { ConfigMap, inWorld, over, Secret } from './world.testkit.ts';

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
