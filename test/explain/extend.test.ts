// lapse extend, keep and release on a served object: which field changes, and what explain says then.

import { millis, parseTime } from '@lapse/base/instant';
import type { RequestedChange } from 'lapse/cli/extend/proposeChanges';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ask,
  CLEANER,
  job,
  live,
  OVERRIDES,
  POD,
  policy,
  settings,
  textOf,
  two,
  until,
} from './extendKit.ts';
import { ServedWorld } from './server.ts';
import { parseObjects } from './world.ts';

let world: ServedWorld;
beforeAll(async () => {
  world = await ServedWorld.open();
});
afterAll(() => world.close());

type Row = readonly [
  rule: string,
  given: readonly string[],
  ref: string,
  requested: RequestedChange,
  change: string,
  at: string,
];

describe('the deadline after an extension', () => {
  test.each<Row>([
    [
      'a Job gets a longer TTL, from its deadline',
      [job('ttlSecondsAfterFinished: 3600')],
      'job/report',
      two,
      'spec.ttlSecondsAfterFinished: 3600 → 10800',
      '2026-03-01T14:30:00Z',
    ],
    [
      'an overdue Job gets a longer TTL, from now',
      [job('ttlSecondsAfterFinished: 60')],
      'job/report',
      two,
      'spec.ttlSecondsAfterFinished: 60 → 9000',
      '2026-03-01T14:00:00Z',
    ],
    [
      'a fraction of a second is rounded up',
      [job('ttlSecondsAfterFinished: 3600')],
      'job/report',
      { kind: 'for', length: millis(1) },
      'spec.ttlSecondsAfterFinished: 3600 → 3601',
      '2026-03-01T12:30:01Z',
    ],
    [
      'a Job gets the TTL that ends at a time',
      [job('ttlSecondsAfterFinished: 3600')],
      'job/report',
      until('2026-03-02T11:30:00Z'),
      'spec.ttlSecondsAfterFinished: 3600 → 86400',
      '2026-03-02T11:30:00Z',
    ],
    [
      'a Pod gets a longer TTL in its annotation',
      [POD],
      'pod/report',
      two,
      'annotation lapse.dev/ttl-seconds-after-finished: 3600 → 10800',
      '2026-03-01T14:30:00Z',
    ],
    [
      'the target of a policy that allows overrides gets a fixed deadline',
      [policy('ConfigMap', OVERRIDES), settings()],
      'configmap/settings',
      two,
      'annotation lapse.dev/expires-at: unset → 2026-03-01T14:30:00Z',
      '2026-03-01T14:30:00Z',
    ],
    [
      'an earlier extension of a policy target is replaced',
      [
        policy('ConfigMap', OVERRIDES),
        settings(', annotations: { lapse.dev/expires-at: "2026-03-01T15:00:00Z" }'),
      ],
      'configmap/settings',
      two,
      'annotation lapse.dev/expires-at: 2026-03-01T15:00:00Z → 2026-03-01T17:00:00Z',
      '2026-03-01T17:00:00Z',
    ],
    [
      'a Job with its own TTL and a policy that respects it needs no annotation',
      [policy('Job', 'allowOverrides: false'), job('ttlSecondsAfterFinished: 3600')],
      'job/report',
      two,
      'spec.ttlSecondsAfterFinished: 3600 → 10800',
      '2026-03-01T14:30:00Z',
    ],
    [
      'a Job with its own TTL and a policy that ignores it gets both',
      [policy('Job', 'respectOwnTTL: false, allowOverrides: true'), job('ttlSecondsAfterFinished: 3600')],
      'job/report',
      two,
      'spec.ttlSecondsAfterFinished: 3600 → 10800; annotation lapse.dev/expires-at: unset → 2026-03-01T14:30:00Z',
      '2026-03-01T14:30:00Z',
    ],
    [
      'a Cleaner is delayed by an annotation',
      [CLEANER(), settings()],
      'cleaner/preview',
      two,
      'annotation lapse.dev/delay-until: unset → 2026-03-01T14:30:00Z',
      '2026-03-01T14:30:00Z',
    ],
    [
      'a delayed Cleaner is delayed again, from its delay',
      [CLEANER(', annotations: { lapse.dev/delay-until: "2026-03-01T20:00:00Z" }'), settings()],
      'cleaner/preview',
      two,
      'annotation lapse.dev/delay-until: 2026-03-01T20:00:00Z → 2026-03-01T22:00:00Z',
      '2026-03-01T22:00:00Z',
    ],
  ])('%s', async (_rule, given, ref, requested, change, at) => {
    await world.hold(given.flatMap(parseObjects));
    const { spec } = (await live(world, ref)) as { spec?: unknown };
    const changed = await ask({ world, ref, requested });
    expect(textOf(changed)).toBe(change);
    expect(changed).toMatchObject({ after: { decision: { kind: 'deleted', at: parseTime(at) } } });
    // The author of a Cleaner is the user who last changed its spec.
    if (ref.startsWith('cleaner/'))
      expect(((await live(world, ref)) as { spec?: unknown }).spec).toEqual(spec);
  });
});

describe('keep and release', () => {
  test.each<[string, string[], string]>([
    ['a Job', [job('ttlSecondsAfterFinished: 3600')], 'job/report'],
    [
      'the target of a policy without overrides',
      [policy('ConfigMap', 'from: Created'), settings()],
      'configmap/settings',
    ],
    ['a Cleaner', [CLEANER(), settings()], 'cleaner/preview'],
  ])('%s is kept, and expires again after its release', async (_what, given, ref) => {
    await world.hold(given.flatMap(parseObjects));
    const kept = await ask({ world, ref, requested: { kind: 'keep' } });
    expect(textOf(kept)).toBe('annotation lapse.dev/ttl: unset → never');
    expect(kept).toMatchObject({ after: { decision: { kind: 'held', by: { reason: 'OptedOut' } } } });
    expect(textOf(await ask({ world, ref, requested: { kind: 'keep' } }))).toBe('unchanged');
    const released = await ask({ world, ref, requested: { kind: 'release' } });
    expect(textOf(released)).toBe('annotation lapse.dev/ttl: never → removed');
    expect(released).toMatchObject({
      after: { decision: { kind: 'deleted', at: parseTime('2026-03-01T12:30:00Z') } },
    });
    expect(textOf(await ask({ world, ref, requested: { kind: 'release' } }))).toBe('unchanged');
  });

  test('the release of a Cleaner ends its delay', async () => {
    await world.hold(
      [CLEANER(', annotations: { lapse.dev/delay-until: "2026-03-01T20:00:00Z" }'), settings()].flatMap(
        parseObjects,
      ),
    );
    const released = await ask({ world, ref: 'cleaner/preview', requested: { kind: 'release' } });
    expect(textOf(released)).toBe('annotation lapse.dev/delay-until: 2026-03-01T20:00:00Z → removed');
  });
});
