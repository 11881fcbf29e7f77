import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { CacheStatus } from './caches.ts';
import { defineController } from './definition.ts';
import { settled } from './outcome.ts';
import { computeReadiness } from './readiness.ts';
import type { ProblemKind } from './reflectorSteps.ts';
import { ConfigMap, configMap, inWorld, refuse } from './world.testkit.ts';

const status = (synced: boolean, kind?: ProblemKind): CacheStatus => ({
  state: synced ? 'watching' : 'listing',
  synced,
  ...(kind === undefined
    ? {}
    : { problem: { kind, verb: 'list' as const, error: new Error('no'), since: instant(0) } }),
});

describe('computeReadiness', () => {
  test.each<[string, boolean, CacheStatus, boolean, boolean, string[]]>([
    ['is ready when a needed cache is synced', true, status(true), true, true, []],
    [
      'is not ready when a needed cache is not synced yet',
      true,
      status(false),
      true,
      false,
      ['v1/pods: not synced yet'],
    ],
    [
      'is not ready when a needed cache may not be listed',
      true,
      status(false, 'forbidden'),
      true,
      false,
      ['v1/pods: list forbidden: no'],
    ],
    [
      'is not ready when the server does not respond before the first sync',
      true,
      status(false, 'unavailable'),
      true,
      false,
      ['v1/pods: list unavailable: no'],
    ],
    [
      'is ready and reports a problem when the kind is not served',
      true,
      status(false, 'notServed'),
      true,
      true,
      ['v1/pods: list notServed: no'],
    ],
    [
      'is ready and reports a problem when the server stops responding after the sync',
      true,
      status(true, 'unavailable'),
      true,
      true,
      ['v1/pods: list unavailable: no'],
    ],
    [
      'is ready and reports a problem of a kind that only a policy names',
      true,
      status(false, 'forbidden'),
      false,
      true,
      ['v1/pods: list forbidden: no'],
    ],
    ['synced, but not started', false, status(true), true, false, []],
  ])('%s', (_rule, isStarted, cache, isNeeded, ready, problems) => {
    expect(computeReadiness(isStarted, [{ source: 'v1/pods', status: cache, isNeeded }])).toEqual({
      ready,
      problems,
    });
  });
});

const controller = defineController({
  name: 'c',
  for: ConfigMap,
  namespace: 'default',
  reconcile: () => settled(),
});

test(
  'the process is not ready until the right to list a needed kind is granted',
  inWorld({ controllers: [controller], listBy: 'pages' }, async (w) => {
    await w.user.create(ConfigMap, configMap('a'));
    w.interfere = () => refuse(403, 'Forbidden', 'no');
    w.manager.start();
    await w.pass(60_000);
    expect(w.manager.readiness()).toEqual({
      ready: false,
      problems: ['v1/configmaps in default: list forbidden: no'],
    });
    w.interfere = () => undefined;
    await w.pass(10 * 60_000);
    expect(w.manager.readiness()).toEqual({ ready: true, problems: [] });
  }),
);
