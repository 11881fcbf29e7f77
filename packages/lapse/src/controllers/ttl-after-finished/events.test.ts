import { Job } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { inTtlWorld } from './ttl.testkit.ts';

const background = { configuration: { jobPropagation: 'Background' } };

describe('warning Events', () => {
  test(
    'report a finish without a time once; the Job is counted and never deleted',
    inTtlWorld({}, async (k) => {
      await k.createJob('report', 0);
      const conditions = [
        { type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: k.at(0) },
        { type: 'Complete', status: 'True' },
      ];
      const status = { startTime: k.at(0), completionTime: k.at(0), conditions };
      k.start();
      await k.world.user.patch(
        Job,
        { namespace: 'default', name: 'report' },
        { type: 'merge', patch: { status } },
        { subresource: 'status' },
      );
      await k.pass(7200);
      await k.patch('report', { metadata: { annotations: { 'lapse.dev/ttl': '1h' } } });
      await k.pass(7200);
      expect(k.events).toEqual(['report FinishTimeUnknown: condition Complete has no lastTransitionTime']);
      expect(k.asked()).toEqual([]);
      expect(k.metric('lapse_ttl_skipped_total{kind="Job",because="finish time unknown"}')).toBe(1);
    }),
  );

  test(
    'report a finish in the future, for listed and for watched Jobs; the wait is longer',
    inTtlWorld(background, async (k) => {
      await k.finishedJob('listed', 5, 25);
      k.start();
      await k.finishedJob('watched', 5, 25);
      await k.pass(29.999);
      expect([await k.exists('listed'), await k.exists('watched')]).toEqual([true, true]);
      await k.pass(0.001);
      expect([await k.exists('listed'), await k.exists('watched')]).toEqual([false, false]);
      expect(k.events.map((event) => event.split(':')[0])).toEqual([
        'listed FinishInFuture',
        'watched FinishInFuture',
      ]);
    }),
  );

  test(
    'report an object that is still terminating after ten minutes once, with its finalizer',
    inTtlWorld(background, async (k) => {
      await k.createJob('stuck', 1, { finalizers: ['example.com/hold'] });
      await k.createJob('of-another-client', 5000, { finalizers: ['example.com/hold'] });
      await k.finish('stuck');
      await k.finish('of-another-client');
      k.start();
      await k.pass(10);
      await k.remove('of-another-client');
      await k.pass(580);
      expect(k.metric('lapse_ttl_waiting{kind="Job"}')).toBe(0);
      expect(k.events).toEqual([]);
      await k.pass(3600);
      expect(k.events).toEqual([
        'stuck StuckTerminating: still terminating 10 minutes after it was deleted: kept by the finalizer example.com/hold',
      ]);
      expect(k.asked()).toEqual(['DELETE stuck']);
      await k.patch('stuck', { metadata: { finalizers: null } });
      await k.pass(0);
      expect(await k.exists('stuck')).toBe(false);
    }),
  );
});
