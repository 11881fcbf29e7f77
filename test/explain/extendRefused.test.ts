// lapse extend, keep and release write nothing if no rule honors the change, and refuse bad input.

import { instant, type Millis, parseTime } from '@lapse/base/instant';
import { ApiError } from '@lapse/kube/api/status';
import { objectOf } from '@lapse/kube/client/client';
import { parseExtension } from 'lapse/cli/extend/extendCommand';
import type { RequestedChange } from 'lapse/cli/extend/proposeChanges';
import { UsageError } from 'lapse/manager/usage';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, CLEANER, job, live, POD, policy, RUNNING, settings, textOf, two, until } from './extendKit.ts';
import { ServedWorld } from './server.ts';
import { parseObjects } from './world.ts';

let world: ServedWorld;
beforeAll(async () => {
  world = await ServedWorld.open();
});
afterAll(() => world.close());

describe('nothing is written if no rule honors it', () => {
  const BEGUN = `status: { deletion: { generation: 1, evaluatedAt: 2026-03-01T11:59:00Z, startedAt: 2026-03-01T11:59:00Z, targets: [] } }`;
  test.each<[string, string[], string, RequestedChange, RegExp]>([
    [
      'a policy without overrides',
      [policy('ConfigMap', 'from: Created'), settings()],
      'configmap/settings',
      two,
      /TTLPolicy ci\/rule deletes it at 2026-03-01T12:30:00Z all the same: .*allowOverrides/,
    ],
    [
      'the target of a Cleaner',
      [CLEANER(), settings()],
      'configmap/settings',
      two,
      /lapse extend cleaner\/preview -n ci$/,
    ],
    [
      'keep for the target of a Cleaner',
      [CLEANER(), settings()],
      'configmap/settings',
      { kind: 'keep' },
      /extend or keep the Cleaner/,
    ],
    ['an object without a rule', [settings()], 'configmap/settings', two, /^refused: no rule deletes it/],
    [
      'an object that is kept',
      [job('ttlSecondsAfterFinished: 3600', ', annotations: { lapse.dev/ttl: never }')],
      'job/report',
      two,
      /run lapse release first/,
    ],
    [
      'a Cleaner that is kept',
      [CLEANER(', annotations: { lapse.dev/ttl: never }')],
      'cleaner/preview',
      two,
      /run lapse release first/,
    ],
    [
      'a time before the deadline',
      [job('ttlSecondsAfterFinished: 3600')],
      'job/report',
      until('2026-03-01T12:10:00Z'),
      /not deleted before 2026-03-01T12:30:00Z already/,
    ],
    [
      'a time in the past, for an overdue Job',
      [job('ttlSecondsAfterFinished: 60')],
      'job/report',
      until('2026-03-01T11:45:00Z'),
      /is in the past/,
    ],
    [
      'more than the longest TTL',
      [job('ttlSecondsAfterFinished: 3600')],
      'job/report',
      { kind: 'for', length: (2 ** 31 * 1000) as Millis },
      /would exceed 2147483647 s/,
    ],
    [
      'a time for a Job that has not finished',
      [RUNNING],
      'job/report',
      until('2027-03-01T12:00:00Z'),
      /has not finished.*use --for/,
    ],
    [
      'a Cleaner that began to delete',
      [CLEANER('', BEGUN)],
      'cleaner/preview',
      two,
      /began to delete its targets at 2026-03-01T11:59:00Z/,
    ],
    [
      'a Pod that is deleted with its Job',
      [
        job('ttlSecondsAfterFinished: 3600'),
        POD.replace(
          'namespace: ci',
          'namespace: ci, ownerReferences: [{ apiVersion: batch/v1, kind: Job, name: report, uid: uid-of-report }]',
        ).replace('name: report', 'name: pod'),
      ],
      'pod/pod',
      two,
      /lapse extend job\/report -n ci/,
    ],
  ])('%s', async (_rule, given, ref, requested, why) => {
    await world.hold(given.flatMap(parseObjects));
    const before = await live(world, ref);
    expect(textOf(await ask({ world, ref, requested }))).toMatch(why);
    expect(await live(world, ref)).toEqual(before);
  });

  test('a dry run writes nothing', async () => {
    await world.hold(parseObjects(job('ttlSecondsAfterFinished: 3600')));
    const before = await live(world, 'job/report');
    expect(await ask({ world, ref: 'job/report', requested: two, dryRun: true })).toMatchObject({
      after: { decision: { kind: 'deleted', at: instant(parseTime('2026-03-01T14:30:00Z')) } },
    });
    expect(await live(world, 'job/report')).toEqual(before);
  });
});

test('a Job that has not finished gets a longer TTL', async () => {
  await world.hold(parseObjects(RUNNING));
  const changed = await ask({ world, ref: 'job/report', requested: two });
  expect(textOf(changed)).toBe('spec.ttlSecondsAfterFinished: 3600 → 10800');
});

test('an object that changes between explanation and patch is explained again', async () => {
  await world.hold(parseObjects(job('ttlSecondsAfterFinished: 3600')));
  let changes = 0;
  const { client } = world;
  const racing = {
    ...client,
    patch: (async (kind, key, patch, options) => {
      if (changes++ === 0)
        objectOf(
          await client.patch(kind, key, {
            type: 'merge',
            patch: { spec: { ttlSecondsAfterFinished: 7200 } },
          }),
        );
      return client.patch(kind, key, patch, options);
    }) as typeof client.patch,
  };
  const changed = await ask({ world, ref: 'job/report', requested: two, client: racing });
  expect(textOf(changed)).toBe('spec.ttlSecondsAfterFinished: 7200 → 14400');
});

test('a user without the right to patch gets the refusal of the API server', async () => {
  await world.hold(parseObjects(job('ttlSecondsAfterFinished: 3600')));
  const forbidden = new ApiError(403, 'Forbidden', 'may not patch');
  const client = { ...world.client, patch: () => Promise.reject(forbidden) };
  await expect(ask({ world, ref: 'job/report', requested: two, client })).rejects.toBe(forbidden);
});

describe('hostile input', () => {
  test.each<[{ for?: string; until?: string }, RegExp]>([
    [{}, /exactly one of --for and --until/],
    [{ for: '2h', until: '2026-12-01T08:00:00Z' }, /exactly one/],
    [{ for: '' }, /must be like/],
    [{ for: '-2h' }, /longer than nothing/],
    [{ for: '0s' }, /longer than nothing/],
    [{ for: '2 hours' }, /must be like/],
    [{ for: '1e9h' }, /must be like/],
    [{ for: '101y' }, /must be like/],
    [{ for: '999999w' }, /at most 100 years/],
    [{ for: 'NaN' }, /must be like/],
    [{ until: '' }, /not an RFC 3339 time/],
    [{ until: 'tomorrow' }, /not an RFC 3339 time/],
    [{ until: '2026-13-01T00:00:00Z' }, /not an RFC 3339 time/],
    [{ until: '2026-12-01' }, /not an RFC 3339 time/],
    [{ until: '1' }, /not an RFC 3339 time/],
    [{ until: '2026-12-01T08:00:00Z; rm -rf' }, /not an RFC 3339 time/],
  ])('%j is refused', (flags, message) => {
    expect(() => parseExtension(flags)).toThrow(UsageError);
    expect(() => parseExtension(flags)).toThrow(message);
  });

  test.each([
    ['jb/report', /serves no kind "jb"/],
    ['job/nothing', /not found/],
    ['job/..', /not a valid object name/],
    ['job', /expected KIND\/NAME/],
    ['job/a/b', /expected one KIND\/NAME/],
    ['__proto__/x', /serves no kind/],
  ])('%s is refused', async (ref, message) => {
    await world.hold([]);
    await expect((async () => ask({ world, ref, requested: two }))()).rejects.toThrow(message);
  });
});
