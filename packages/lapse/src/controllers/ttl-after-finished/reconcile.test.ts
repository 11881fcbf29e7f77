import { describe, expect, test } from 'vitest';
import { inTtlWorld, type TtlWorld } from './ttl.testkit.ts';

const background = { configuration: { jobPropagation: 'Background' } };

const isDelete = ({ method }: { method: string }) => method === 'DELETE';

describe('the controller', () => {
  test(
    'deletes an expired Job with one request, at its deadline, with foreground propagation',
    inTtlWorld({}, async (k) => {
      const bodies: unknown[] = [];
      k.world.interfere = (request) => {
        if (isDelete(request)) bodies.push(JSON.parse(Buffer.from(request.body!).toString()));
        return undefined;
      };
      await k.finishedJob('report', 10);
      const { uid, resourceVersion } = (await k.get('report'))!.metadata;
      k.start();
      await k.pass(9.999);
      expect(k.asked()).toEqual([]);
      await k.pass(0.001);
      expect(k.asked()).toEqual(['DELETE report']);
      expect(bodies).toEqual([
        expect.objectContaining({ preconditions: { uid, resourceVersion }, propagationPolicy: 'Foreground' }),
      ]);
      expect(k.events).toEqual([]);
    }),
  );

  test(
    'deletes a Job with TTL 0 when it finishes, and never deletes a Job without TTL',
    inTtlWorld(background, async (k) => {
      k.start();
      await k.createJob('zero', 0);
      await k.createJob('none');
      await k.pass(3600);
      await k.finish('none', 3600);
      await k.finish('zero', 3600);
      await k.pass(0);
      expect([await k.exists('zero'), await k.exists('none')]).toEqual([false, true]);
      await k.pass(10_000);
      expect(await k.exists('none')).toBe(true);
    }),
  );

  test(
    'counts deletions under the metric names of the KEP and of Kubernetes',
    inTtlWorld({ configuration: { jobPropagation: 'Background', jobDeletionEvents: true } }, async (k) => {
      await k.finishedJob('due', 5);
      await k.finishedJob('later', 500);
      await k.pass(8);
      k.start();
      await k.pass(0);
      for (const name of [
        'ttl_after_finished_controller_time_to_deletion_seconds',
        'ttl_after_finished_controller_job_deletion_duration_seconds',
      ])
        expect([
          k.metric(`${name}_sum`),
          k.metric(`${name}_count`),
          k.metric(`${name}_bucket{le="1.6"}`),
        ]).toEqual([3, 1, 0]);
      expect([
        k.metric('lapse_ttl_waiting{kind="Job"}'),
        k.metric('lapse_ttl_due{kind="Job"}'),
        k.metric('lapse_ttl_deleted_total{kind="Job",namespace="default",outcome="deleted"}'),
        k.metric('lapse_ttl_conflicts_total'),
        k.metric('ttl_after_finished_controller_rate_limiter_use'),
        k.metric('workqueue_depth{name="ttl_jobs_to_delete"}'),
        k.metric('lapse_ttl_lag_seconds_count{kind="Job"}'),
      ]).toEqual([1, 0, 1, 0, 0, 0, undefined]);
      expect(k.events).toEqual([
        `due Deleted: finished ${k.at(0)} (condition Complete), TTL 5s (spec.ttlSecondsAfterFinished); deleted 3.0 s after its deadline`,
      ]);
    }),
  );

  test(
    'counts every finished Job with a TTL once in workqueue_adds_total',
    inTtlWorld(background, async (k) => {
      const added = () => k.metric('workqueue_adds_total{name="ttl_jobs_to_delete"}');
      await k.finishedJob('listed', 5);
      await k.finishedJob('listed-without-ttl');
      k.start();
      await k.pass(1);
      expect(added()).toBe(1);
      await k.createJob('none');
      await k.finish('none', 1);
      await k.createJob('new', 60);
      await k.pass(1);
      expect(added()).toBe(1);
      await k.finish('new', 2);
      await k.pass(1);
      expect(added()).toBe(2);
      await k.setTtl('new', 90);
      await k.setTtl('none', 90);
      await k.pass(200);
      expect([added(), await k.exists('new'), await k.exists('none')]).toEqual([3, false, false]);
    }),
  );

  test(
    'counts waiting Jobs of the initial list before their first reconcile',
    inTtlWorld({}, async (k) => {
      for (const name of ['a', 'b', 'c']) await k.finishedJob(name, 1000);
      k.start();
      await k.pass(1);
      expect([k.metric('lapse_ttl_waiting{kind="Job"}'), k.world.reconciles.length]).toEqual([3, 0]);
      await k.remove('b');
      await k.pass(1);
      expect(k.metric('lapse_ttl_waiting{kind="Job"}')).toBe(2);
    }),
  );

  test(
    'does not count a Job as due on a replica that never led',
    inTtlWorld({ elector: { start: () => {}, stop: async () => {} } }, async (k) => {
      await k.finishedJob('report', 10);
      k.start();
      await k.pass(5);
      await k.remove('report');
      await k.pass(3600);
      expect([k.metric('lapse_ttl_waiting{kind="Job"}'), k.metric('lapse_ttl_due{kind="Job"}')]).toEqual([
        0, 0,
      ]);
    }),
  );
});

describe('a TTL that changes during the wait', () => {
  const ended = async (k: TtlWorld, limit: number): Promise<number> => {
    for (let second = 0; second <= limit; second++) {
      if (!(await k.exists('report'))) return second;
      await k.pass(1);
    }
    return Number.POSITIVE_INFINITY;
  };
  test.each<[string, change: (k: TtlWorld) => Promise<void>, end: number]>([
    ['shortened', (k) => k.setTtl('report', 20), 20],
    ['shortened into the past', (k) => k.setTtl('report', 1), 10],
    ['lengthened', (k) => k.setTtl('report', 90), 90],
    ['cleared', (k) => k.setTtl('report', null), Number.POSITIVE_INFINITY],
    [
      'opted out',
      (k) => k.patch('report', { metadata: { annotations: { 'lapse.dev/ttl': 'never' } } }),
      Number.POSITIVE_INFINITY,
    ],
  ])('%s', (_name, change, end) =>
    inTtlWorld(background, async (k) => {
      await k.finishedJob('report', 60);
      k.start();
      await k.pass(10);
      await change(k);
      await k.pass(0);
      expect(10 + (await ended(k, 120))).toBe(end);
    })(),
  );

  test(
    'that is set after the finish, cleared and set again applies at once',
    inTtlWorld(background, async (k) => {
      await k.finishedJob('report');
      k.start();
      await k.pass(100);
      await k.setTtl('report', 200);
      await k.pass(50);
      await k.setTtl('report', null);
      await k.pass(500);
      expect(await k.exists('report')).toBe(true);
      await k.setTtl('report', 5);
      await k.pass(0);
      expect(await k.exists('report')).toBe(false);
    }),
  );
});

describe('a stale cache at the deadline', () => {
  test(
    'causes a conflict and one read; an extended Job is deleted at its new deadline',
    inTtlWorld(background, async (k) => {
      await k.finishedJob('report', 10);
      k.start();
      await k.pass(5);
      k.world.holdEvents();
      await k.setTtl('report', 60);
      await k.pass(5);
      expect(k.asked()).toEqual(['DELETE report', 'GET report']);
      expect([
        k.metric('lapse_ttl_conflicts_total'),
        k.metric('lapse_ttl_waiting{kind="Job"}'),
        k.metric('lapse_ttl_due{kind="Job"}'),
      ]).toEqual([1, 1, 0]);
      k.world.releaseEvents();
      await k.pass(49.999);
      expect(await k.exists('report')).toBe(true);
      await k.pass(0.001);
      expect(await k.exists('report')).toBe(false);
    }),
  );

  test(
    'is avoided by a read before the DELETE with rereadFirst',
    inTtlWorld(
      {
        configuration: { jobPropagation: 'Background' },
        services: { deletion: () => ({ rereadFirst: true }) },
      },
      async (k) => {
        await k.finishedJob('report', 10);
        k.start();
        await k.pass(10);
        expect(k.asked()).toEqual(['GET report', 'DELETE report']);
      },
    ),
  );
});

test(
  'a competing controller that deletes by the same rule is counted, and logged once',
  inTtlWorld({ ...background, dryRun: true }, async (k) => {
    for (const i of [1, 2, 3, 4, 5]) await k.finishedJob(`report-${i}`, i * 60);
    await k.finishedJob('by-hand', 9999);
    k.start();
    await k.pass(1);
    await k.remove('by-hand');
    for (const i of [1, 2, 3, 4, 5]) {
      await k.pass(60);
      await k.remove(`report-${i}`);
    }
    await k.pass(1);
    expect(k.metric('lapse_ttl_competing_deletions_total{kind="Job"}')).toBe(5);
    expect(k.said.filter((line) => line.startsWith('warn another controller deletes'))).toHaveLength(1);
  }),
);

test.each(['never led before', 'led before'])(
  'deletions of the previous leader do not count as competing: this replica %s',
  (led) => {
    let lead = (_isLeading: boolean) => {};
    const elector = {
      start: (on: { gained(): void; lost(): void }) => {
        lead = (isLeading) => (isLeading ? on.gained() : on.lost());
      },
      stop: async () => {},
    };
    return inTtlWorld({ ...background, elector }, async (k) => {
      for (const i of [1, 2, 3, 4, 5]) await k.finishedJob(`report-${i}`, 60);
      k.start();
      await k.pass(1);
      if (led === 'led before') {
        lead(true);
        await k.patch('report-1', { spec: { ttlSecondsAfterFinished: 61 } });
        await k.pass(1);
        expect(k.world.reconciles).toHaveLength(1);
        lead(false);
      }
      const before = k.world.reconciles.length;
      await k.pass(60);
      expect(k.metric('lapse_ttl_due{kind="Job"}')).toBe(0);
      for (const i of [1, 2, 3, 4, 5]) await k.remove(`report-${i}`);
      lead(true);
      await k.pass(1);
      // A standby forgets objects that are gone and reconciles nothing.
      expect(k.world.reconciles.length - before).toBe(0);
      expect(k.metric('lapse_ttl_waiting{kind="Job"}')).toBe(0);
      expect(k.metric('lapse_ttl_competing_deletions_total{kind="Job"}')).toBe(0);
      expect(k.metric('lapse_ttl_due{kind="Job"}')).toBe(0);
    })();
  },
);
