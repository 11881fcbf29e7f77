import { createServer } from '@lapse/apiserver/server';
import { seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { Kind } from '@lapse/kube/api/kind';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import { refuse } from '@lapse/runtime/world.testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Budget } from '#deletion/budget';
import { inTtlWorld, type TtlWorld, worldWith } from './ttl.testkit.ts';

const background = { configuration: { jobPropagation: 'Background' } };
const isDelete = ({ method }: { method: string }) => method === 'DELETE';

const ask: Budget['ask'] = (_uid, now) =>
  now % 60_000 === 0 ? { kind: 'go' } : { kind: 'wait', until: (Math.ceil(now / 60_000) * 60_000) as never };
const onTheMinute: Budget = { ask, claim: ask, spend: () => {}, limit: () => {} };

describe('the answer of the server', () => {
  test.each<
    [string, times: number, answer: () => ReturnType<TtlWorld['world']['interfere']>, deletes: number]
  >([
    ['429 with Retry-After', 1, () => refuse(429, 'TooManyRequests', 'later', { retryAfterSeconds: 2 }), 2],
    ['500, three times', 3, () => refuse(500, 'InternalError'), 4],
    ['410', 1, () => refuse(410, 'Expired'), 2],
    ['503', 1, () => refuse(503, 'ServiceUnavailable'), 2],
    ['lost, after the DELETE took effect', 1, () => 'loseAnswer', 2],
  ])('is %s: the Job is deleted in the end', (_name, times, answer, deletes) =>
    inTtlWorld(background, async (k) => {
      await k.finishedJob('report', 10);
      k.start();
      let left = times;
      k.world.interfere = (request) => (isDelete(request) && left-- > 0 ? answer() : undefined);
      await k.pass(15);
      expect(await k.exists('report')).toBe(false);
      expect(k.asked().filter((r) => r.startsWith('DELETE'))).toHaveLength(deletes);
      expect(k.metric('lapse_ttl_competing_deletions_total{kind="Job"}')).toBe(0);
    })(),
  );

  test.each([
    ['DELETE', 403, 'Forbidden'],
    ['DELETE', 409, 'AlreadyExists'],
    ['DELETE', 422, 'Invalid'],
    ['DELETE', 500, 'InternalError'],
    ['GET', 403, 'Forbidden'],
  ])(
    'to a %s is %s for an hour: few requests, one Event, and the Job is deleted afterwards',
    (verb, code, reason) =>
      inTtlWorld(background, async (k) => {
        // The object is only read after a conflict.
        const lost = refuse(409, 'Conflict', 'the UID in the precondition does not match');
        const refusal = (method: string) =>
          method === verb ? refuse(code, reason) : verb === 'GET' ? lost : undefined;
        await k.finishedJob('report', 10);
        k.start();
        let broken = true;
        k.world.interfere = (request) =>
          broken && /\/jobs\/report/.test(request.path) ? refusal(request.method) : undefined;
        await k.pass(3610);
        const asked = k.asked().length;
        expect(asked).toBeGreaterThan(5);
        expect(asked).toBeLessThan(170);
        await k.pass(3600);
        expect(k.asked().length - asked).toBeLessThan(130);
        expect(k.events.length).toBeLessThanOrEqual(2);
        expect(await k.exists('report')).toBe(true);
        broken = false;
        await k.pass(310);
        expect(await k.exists('report')).toBe(false);
      })(),
  );
});

describe('gates and configuration', () => {
  test.each<[gate: string, kind: Kind, put: (k: TtlWorld, name: string) => Promise<void>]>([
    ['TTLAfterFinished', Job, (k, name) => k.finishedJob(name, 10)],
    ['TTLAfterFinishedPods', Pod, (k, name) => k.finishedPod(name, 10)],
  ])('%s enables deletions, and nothing is deleted while it is off', async (gate, kind, put) => {
    const clock = new VirtualClock();
    const server = await createServer({ clock, random: seededRandom(7) });
    onTestFinished(() => server.close());
    const begin = (isOn: boolean): TtlWorld => {
      const k = worldWith(server, clock, { ...background, gates: { [gate]: isOn } });
      k.start();
      return k;
    };
    const asked = (k: TtlWorld) =>
      k.world.requests.filter((request) => request.includes(`/${kind.resource}`));

    const first = begin(true);
    await put(first, 'first');
    await first.pass(10);
    expect(first.asked()).toEqual(['DELETE first']);
    await first.stop();

    const off = begin(false);
    await put(off, 'meanwhile');
    await off.pass(3600);
    expect([asked(off), await off.there(kind)]).toEqual([[], ['meanwhile']]);
    await off.stop();

    const again = begin(true);
    await put(again, 'after');
    await again.pass(0);
    expect(await again.there(kind)).toEqual(['after']);
    await again.pass(10);
    expect(again.asked()).toEqual(['DELETE meanwhile', 'DELETE after']);
    expect(await again.there(kind)).toEqual([]);
    await again.stop();
  });

  test('a concurrency of zero is refused at the start', async () => {
    await expect(inTtlWorld({ configuration: { concurrency: 0 } }, async () => {})()).rejects.toThrow(
      'concurrency must be a whole number above zero',
    );
  });

  test(
    'a deletion budget limits the deletions per second',
    inTtlWorld(
      {
        configuration: { jobPropagation: 'Background' },
        services: {
          deletion: () => ({
            budget: onTheMinute,
          }),
        },
      },
      async (k) => {
        await k.pass(30);
        const offset = seconds(0) + ((k.world.clock.now() / 1000) % 60);
        await k.finishedJob('report', 1, 30);
        k.start();
        await k.pass(60 - offset - 1);
        expect(await k.exists('report')).toBe(true);
        await k.pass(61);
        expect(await k.exists('report')).toBe(false);
      },
    ),
  );
});

test(
  'an object that is gone after a refused DELETE was deleted by another client',
  inTtlWorld(background, async (k) => {
    await k.finishedJob('report', 10);
    await k.createJob('other');
    k.start();
    await k.pass(1);
    k.world.interfere = (request) => (isDelete(request) ? refuse(403, 'Forbidden') : undefined);
    await k.pass(10);
    await k.remove('report');
    await k.pass(0);
    expect(k.metric('lapse_ttl_competing_deletions_total{kind="Job"}')).toBe(1);
  }),
);

describe('a DELETE without a clear answer whose result the watch shows first', () => {
  const counted = 'lapse_ttl_deleted_total{kind="Job",namespace="default",outcome="deleted"}';
  test.each<[string, answers: (() => ReturnType<TtlWorld['world']['interfere']>)[]]>([
    ['lost three times', ['loseAnswer', 'loseAnswer', 'loseAnswer'].map((a) => () => a as 'loseAnswer')],
    ['lost, then 502', [() => 'loseAnswer', () => refuse(502, 'x')]],
    ['504 after it took effect', [() => refuse(504, 'Timeout')]],
    ['500 after it took effect', [() => refuse(500, 'ServerTimeout')]],
  ])('(%s) is counted once, and not as a competing deletion', (_name, answers) =>
    inTtlWorld(background, async (k) => {
      await k.finishedJob('report', 10);
      await k.finishedJob('before', 5);
      k.start();
      await k.pass(9);
      let removed: Promise<unknown> | undefined;
      k.world.interfere = (request) => {
        if (!isDelete(request)) return undefined;
        removed ??= k.remove('report');
        return answers.shift()?.();
      };
      await k.pass(5);
      await removed;
      await k.pass(100);
      expect(await k.exists('report')).toBe(false);
      expect([k.metric(counted), k.metric('lapse_ttl_competing_deletions_total{kind="Job"}')]).toEqual([
        2, 0,
      ]);
      expect([
        k.metric('ttl_after_finished_controller_time_to_deletion_seconds_count'),
        k.metric('lapse_ttl_due{kind="Job"}'),
        k.metric('lapse_deletions_due{controller="ttl-after-finished"}'),
      ]).toEqual([2, 0, 0]);
    })(),
  );

  test(
    'counts as accepted if the object is terminating, regardless of how long a finalizer keeps it',
    inTtlWorld({}, async (k) => {
      await k.createJob('report', 10, { finalizers: ['example.com/hold'] });
      await k.finish('report');
      k.start();
      await k.pass(9);
      let removed: Promise<unknown> | undefined;
      k.world.interfere = (request) => {
        if (!isDelete(request)) return undefined;
        removed ??= k.remove('report');
        return refuse(504, 'Timeout');
      };
      await k.pass(5);
      await removed;
      const terminating = counted.replace('"deleted"', '"terminating"');
      expect([k.metric(terminating), k.metric('lapse_ttl_due{kind="Job"}')]).toEqual([1, 0]);
      await k.pass(3600);
      await k.patch('report', { metadata: { finalizers: null } });
      await k.pass(1);
      expect(await k.exists('report')).toBe(false);
      expect([k.metric(terminating), k.metric(counted)]).toEqual([1, undefined]);
      expect(k.metric('ttl_after_finished_controller_time_to_deletion_seconds_bucket{le="6.4"}')).toBe(1);
    }),
  );

  test(
    'is not counted if it did not take effect and the object was extended and deleted later by another client',
    inTtlWorld(background, async (k) => {
      await k.finishedJob('report', 10);
      k.start();
      await k.pass(9);
      k.world.interfere = (request) => (isDelete(request) ? refuse(504, 'Timeout') : undefined);
      await k.pass(1);
      await k.patch('report', { spec: { ttlSecondsAfterFinished: 100_000 } });
      k.world.interfere = () => undefined;
      await k.pass(100);
      await k.remove('report');
      await k.pass(1);
      expect([k.metric(counted), k.metric('lapse_ttl_competing_deletions_total{kind="Job"}')]).toEqual([
        undefined,
        0,
      ]);
    }),
  );

  test(
    'is counted once if another object already has the same name',
    inTtlWorld(background, async (k) => {
      await k.finishedJob('report', 10);
      k.start();
      await k.pass(9);
      k.world.interfere = (request) => (isDelete(request) ? 'loseAnswer' : undefined);
      k.world.holdEvents();
      await k.pass(1);
      await k.createJob('report', 1000);
      k.world.interfere = () => undefined;
      k.world.releaseEvents();
      await k.pass(10);
      expect(k.metric(counted)).toBe(1);
      await k.remove('report');
      await k.pass(10);
      expect(k.metric(counted)).toBe(1);
    }),
  );
});
