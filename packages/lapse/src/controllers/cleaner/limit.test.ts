import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { Cleaner } from '#api/cleaner';
import type { LimitsStatus } from '#api/limits';
import { computeLimit } from './limit.ts';

const NOW = instant(1_750_000_000_000);

const cleaner = (limits?: LimitsStatus, approval?: string): Cleaner => ({
  apiVersion: 'cleaner.vtex.dev/v1alpha',
  kind: 'Cleaner',
  metadata: {
    name: 'shop',
    namespace: 'default',
    generation: 2,
    ...(approval === undefined ? {} : { annotations: { 'lapse.dev/approved-deletions': approval } }),
  },
  spec: { ttl: '1h' },
  ...(limits === undefined ? {} : { status: { limits } }),
});

const compute = (
  count: number,
  { own, all, dryRun = false }: { own?: number; all?: number; dryRun?: boolean },
  of = cleaner(),
) =>
  computeLimit(
    of,
    { dryRun, ...(own === undefined ? {} : { maxDeletions: own }) },
    count,
    { isRecorded: false, ...(all === undefined ? {} : { maxDeletions: all }) },
    NOW,
  );

describe('computeLimit', () => {
  test('as many deletions as the limit are allowed', () => {
    expect(compute(10, { own: 10 })).toEqual({ kind: 'within' });
    expect(compute(10, {})).toEqual({ kind: 'within' });
  });
  test('one more stops the Cleaner before the first deletion', () => {
    expect(compute(11, { own: 10 })).toMatchObject({
      kind: 'exceeded',
      message:
        'stopped at its limit: 11 deletions, spec.limits.maxDeletions allows 10; nothing is deleted before: lapse approve cleaner/shop -n default',
      limits: { state: 'Exceeded', exceeded: { from: 'spec', allowed: 10, due: 11, generation: 2 } },
    });
  });
  test('a Cleaner cannot exceed the limit of the configuration', () => {
    expect(compute(11, { own: 100, all: 10 })).toMatchObject({
      kind: 'exceeded',
      limits: { exceeded: { from: 'configuration', allowed: 10 } },
    });
  });
  test('a dry run is not stopped', () => {
    expect(compute(11, { own: 10, dryRun: true })).toEqual({ kind: 'within' });
  });

  const stopped = compute(11, { own: 10 });
  const limits = stopped.kind === 'exceeded' ? stopped.limits : {};

  test('a stopped Cleaner stays stopped when fewer objects would be deleted', () => {
    expect(compute(3, { own: 10 }, cleaner(limits))).toMatchObject({
      kind: 'exceeded',
      limits: { exceeded: { due: 3 } },
    });
  });
  test('an approval of enough deletions lets it go on, and is recorded', () => {
    const approval = '{"generation":2,"deletions":11}';
    expect(compute(11, { own: 10 }, cleaner(limits, approval))).toEqual({
      kind: 'within',
      limits: {
        approvals: [{ generation: 2, deletions: 11, at: '2025-06-15T15:06:40Z', annotation: approval }],
      },
    });
  });
  test.each([
    ['{"generation":2,"deletions":10}', '10 deletions are approved, but 11 objects are due; stopped'],
    [
      '{"generation":1,"deletions":99}',
      'the approval is for generation 1 of the spec, which is 2 now; stopped',
    ],
  ])('the approval %s is void', (approval, message) => {
    const found = compute(11, { own: 10 }, cleaner(limits, approval));
    expect(found.kind === 'exceeded' && found.message).toContain(message);
  });
});
